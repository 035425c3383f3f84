import {
  type ColumnOf,
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
import { measureTexts, withOneText, type Measure, type Totals } from './measure.js';
import type { Lists } from './options.generated.js';

type Dictionary = NonNullable<ColumnOf<'text'>['dictionary']>;

const MAYBE = 4096;

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
  readonly readsRowsOnly = true;
  readonly outputs: Readonly<Record<string, OutputKind>>;
  readonly #source: InteractionsInput;
  readonly #by: Input<'text'> | Input<'texts'> | undefined;
  readonly #measures: readonly Measure[];
  readonly #lists: Lists;
  /** Requests of one user soon after one another have the same texts. */
  readonly #known = new WeakMap<readonly string[], KnownTexts>();

  /** @param by undefined: every event counts for every candidate */
  constructor(
    source: InteractionsInput,
    by: Input<'text'> | Input<'texts'> | undefined,
    measures: readonly Measure[],
    lists: Lists,
  ) {
    this.#source = source;
    this.#by = by;
    this.#measures = measures;
    this.#lists = lists;
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
    const by = this.#by;
    const candidates = by === undefined ? sameText(input) : this.#textsOf(input, events.texts, by);
    const counted = by === undefined ? withOneText(events) : events;
    for (const measure of this.#measures) {
      const own = measure.of === undefined ? undefined : input.interactions(measure.of);
      const totals = measureTexts(counted, measure, own, input.now);
      write(output.number(measure.name), input.rows, candidates, totals, measure, this.#lists);
    }
  }

  #textsOf(input: StepInput, texts: readonly string[], by: Input<'text'> | Input<'texts'>): CandidateTexts {
    const column = input.column(by);
    const { codes, dictionary } = column;
    const known = this.#known.get(texts) ?? new KnownTexts(texts);
    this.#known.set(texts, known);
    if (dictionary !== undefined) known.use(dictionary);
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
          const code = dictionary === undefined ? -1 : (codes?.[i] ?? -1);
          const index = code < 0 ? known.indexOf(column.values[i] as string) : known.indexOfCode(code);
          if (index !== undefined) textIndexes[length++] = index;
        }
      }
      offsets[++next] = length;
    }
    return { status, offsets, textIndexes };
  }
}

/** Finds texts of events by themselves or, which costs less, by their codes. */
class KnownTexts {
  readonly #texts: readonly string[];
  #byText: ReadonlyMap<string, number> | undefined;
  readonly #byCode = new Map<number, number>();
  /** By the low bits of a code: 1 if a text has such a code. Most texts of candidates are in no event, and this costs less. */
  readonly #maybe = new Uint8Array(MAYBE);
  #dictionary: Dictionary | undefined;
  /** The number of texts that the dictionary had. */
  #size = 0;

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  indexOf(text: string): number | undefined {
    this.#byText ??= new Map(this.#texts.map((one, index) => [one, index] as const));
    return this.#byText.get(text);
  }

  /** Call it before `indexOfCode`, which then knows the codes of this dictionary. */
  use(dictionary: Dictionary): void {
    const { length } = dictionary.texts;
    if (this.#dictionary === dictionary && this.#size === length) return;
    this.#dictionary = dictionary;
    this.#size = length;
    this.#byCode.clear();
    this.#maybe.fill(0);
    for (const [index, text] of this.#texts.entries()) {
      const code = dictionary.find(text);
      if (code < 0) continue;
      this.#byCode.set(code, index);
      this.#maybe[code % MAYBE] = 1;
    }
  }

  indexOfCode(code: number): number | undefined {
    return this.#maybe[code % MAYBE] === 1 ? this.#byCode.get(code) : undefined;
  }
}

/** Every candidate has the one text of `withOneText`. */
function sameText({ count }: StepInput): CandidateTexts {
  return {
    status: new Uint8Array(count).fill(Status.present),
    offsets: Int32Array.from({ length: count + 1 }, (_, row) => row),
    textIndexes: new Int32Array(count),
  };
}

/** A candidate can have several texts: their largest total or their sum is written; of an age or a last value, the newest. */
function write(
  column: NumberColumn,
  rows: Int32Array,
  { status, offsets, textIndexes }: CandidateTexts,
  { values, newest }: Totals,
  { value }: Measure,
  lists: Lists,
): void {
  const isOfNewest = value === 'seconds_since' || value === 'last';
  const isSum = lists === 'sum' && value !== 'has';
  /** By text: one more than the last row that had it, since a text counts once for each row. */
  const met = new Int32Array(isSum ? values.length : 0);
  for (const row of rows) {
    const byte = statusAt(status, row);
    if (!isKnown(byte)) {
      column.status[row] = byte;
      continue;
    }
    let best = NaN;
    let time = -Infinity;
    const end = offsets[row + 1] as number;
    for (let i = offsets[row] as number; i < end; i++) {
      const text = textIndexes[i] as number;
      const total = values[text] as number;
      if (isOfNewest) {
        if ((newest[text] as number) <= time) continue;
        time = newest[text] as number;
        best = total;
        continue;
      }
      if (isSum) {
        if (met[text] === row + 1) continue;
        met[text] = row + 1;
      }
      if (Number.isNaN(best)) best = total;
      else best = isSum ? best + total : Math.max(best, total);
    }
    if (Number.isNaN(best)) {
      if (isOfNewest) continue; // there was no event, so there is no age and no last value
      best = 0;
    }
    column.values[row] = best;
    column.status[row] = Status.present;
  }
}
