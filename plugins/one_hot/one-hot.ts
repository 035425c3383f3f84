import {
  ByCode,
  type FeatureComponent,
  type Input,
  isKnown,
  type OutputKind,
  Status,
  statusAt,
  type StepInput,
  type StepOutput,
  type TextColumn,
  type TextsColumn,
} from 'millrace/api';

/** The output that is 1 if a text is in no declared category. */
export const OTHER = 'other';

/** Computes for each category whether it has the candidate's text, or one of its texts. */
export class OneHot implements FeatureComponent {
  readonly readsRowsOnly = true;
  readonly outputs: Readonly<Record<string, OutputKind>>;
  readonly #of: Input<'text' | 'texts'>;
  readonly #names: readonly string[];
  readonly #positions: ByCode;

  /** @param positions by text: the position of its category in `names` */
  constructor(of: Input<'text' | 'texts'>, names: readonly string[], positions: ReadonlyMap<string, number>) {
    this.#of = of;
    this.#names = [...names, OTHER];
    this.#positions = new ByCode((text) => positions.get(text) ?? names.length);
    this.outputs = Object.fromEntries(this.#names.map((name) => [name, 'bool']));
  }

  compute(input: StepInput, output: StepOutput): void {
    const column: TextColumn | TextsColumn = input.column(this.#of);
    const hot = this.#names.map((name) => output.number(name));
    const positionOf = this.#positions.reader(column);
    for (const row of input.rows) {
      const cell = row * column.stride;
      const status = statusAt(column.status, cell);
      const known = isKnown(status);
      for (const one of hot) {
        one.status[row] = known ? Status.present : status;
        if (known) one.values[row] = 0;
      }
      if (!known) continue;
      const start = column.kind === 'text' ? cell : (column.offsets[cell] ?? 0);
      const end = column.kind === 'text' ? cell + 1 : (column.offsets[cell + 1] ?? 0);
      for (let i = start; i < end; i++) {
        const one = hot[positionOf(i)];
        if (one !== undefined) one.values[row] = 1;
      }
    }
  }
}
