import {
  type FeatureComponent,
  type Input,
  type InteractionsInput,
  isKnown,
  type NumberColumn,
  type OutputKind,
  Status,
  statusAt,
  type StepInput,
  type StepOutput,
} from 'millrace/api';
import { measureTexts, type Measure } from './measure.js';

/** The texts of candidates, as indexes into the texts of the events. Texts that no event has are left out. */
interface CandidateTexts {
  /** By row: the status of its value. */
  readonly status: Uint8Array;
  /** Row r has `textIndexes[offsets[r]] … textIndexes[offsets[r + 1] - 1]`. */
  readonly offsets: Int32Array;
  readonly textIndexes: Int32Array;
}

/**
 * Counts what an entity did with similar candidates. It does one lookup for each text of a candidate, and one pass
 * over the events for each output.
 */
export class Interaction implements FeatureComponent {
  readonly outputs: Readonly<Record<string, OutputKind>>;
  readonly #source: InteractionsInput;
  readonly #by: Input<'text'> | Input<'texts'>;
  readonly #measures: readonly Measure[];

  constructor(source: InteractionsInput, by: Input<'text'> | Input<'texts'>, measures: readonly Measure[]) {
    this.#source = source;
    this.#by = by;
    this.#measures = measures;
    this.outputs = Object.fromEntries(
      measures.map(({ name, value }) => [name, value === 'has' ? 'bool' : 'number'] as const),
    );
  }

  compute(input: StepInput, output: StepOutput): void {
    const events = input.interactions(this.#source);
    if (events.status !== Status.present) {
      for (const { name } of this.#measures) {
        const { status } = output.number(name);
        for (const row of input.rows) status[row] = events.status;
      }
      return;
    }
    const candidates = this.#textsOf(input, events.texts);
    for (const measure of this.#measures) {
      const totals = measureTexts(events, measure, input.now);
      write(output.number(measure.name), input.rows, candidates, totals, measure);
    }
  }

  #textsOf(input: StepInput, texts: readonly string[]): CandidateTexts {
    const indexOf = new Map(texts.map((text, index) => [text, index] as const));
    const column = input.column(this.#by);
    const status = new Uint8Array(input.count);
    const offsets = new Int32Array(input.count + 1);
    const textIndexes = new Int32Array(column.kind === 'text' ? input.count : column.values.length);
    let length = 0;
    // Rows outside this step have no texts, and nothing is written to them.
    let next = 0;
    for (const row of input.rows) {
      while (next < row) offsets[++next] = length;
      const cell = row * column.stride;
      status[row] = statusAt(column.status, cell);
      if (isKnown(status[row])) {
        const start = column.kind === 'text' ? cell : (column.offsets[cell] ?? 0);
        const end = column.kind === 'text' ? cell + 1 : (column.offsets[cell + 1] ?? 0);
        for (let i = start; i < end; i++) {
          const index = indexOf.get(column.values[i] as string);
          if (index !== undefined) textIndexes[length++] = index;
        }
      }
      offsets[++next] = length;
    }
    return { status, offsets, textIndexes };
  }
}

/** A candidate can have several texts: the largest count is written, or the age of the newest event. */
function write(
  column: NumberColumn,
  rows: Int32Array,
  { status, offsets, textIndexes }: CandidateTexts,
  totals: Float64Array,
  { value }: Measure,
): void {
  const isAge = value === 'seconds_since';
  for (const row of rows) {
    const byte = statusAt(status, row);
    if (!isKnown(byte)) {
      column.status[row] = byte;
      continue;
    }
    let best = isAge ? Infinity : 0;
    const end = offsets[row + 1] as number;
    for (let i = offsets[row] as number; i < end; i++) {
      const total = totals[textIndexes[i] as number] as number;
      if (isAge ? total < best : total > best) best = total;
    }
    if (best === Infinity) continue; // there was no event, so there is no age
    column.values[row] = best;
    column.status[row] = Status.present;
  }
}
