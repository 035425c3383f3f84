import {
  type BringInput,
  type FixedPlace,
  type Input,
  isKnown,
  type RankingEdit,
  type RuleComponent,
  type RuleReport,
  type StepInput,
} from 'millrace/api';

/** Candidate id → 1-based position of the whole ranking. */
export type Pins = Map<string, number>;

/** Pins candidates to positions. An id that is not a candidate, or is outside the rows of the step, is ignored. */
export class Pin implements RuleComponent {
  readonly scoring = 'keeps';
  readonly places: readonly FixedPlace[];
  readonly brings?: (input: BringInput) => Iterable<string>;
  readonly #pinsOf: (input: BringInput) => ReadonlyMap<string, number>;

  /**
   * @param pinsOf the pins of a request
   * @param bring whether what is pinned becomes a candidate
   * @param places the pins of every request
   */
  constructor(
    pinsOf: (input: BringInput) => ReadonlyMap<string, number>,
    bring = false,
    places: readonly FixedPlace[] = [],
  ) {
    this.#pinsOf = pinsOf;
    if (bring) this.brings = (input) => pinsOf(input).keys();
    this.places = places;
  }

  /** Pins the ids of a list of the request: the first to position 1, and so on. An id that is repeated counts once. */
  static of(ids: Input<'texts'>, bring = false): Pin {
    return new Pin((input) => {
      const { values, offsets, status } = input.column(ids);
      const pins: Pins = new Map();
      if (!isKnown(status[0])) return pins;
      for (let at = offsets[0] ?? 0; at < (offsets[1] ?? 0); at++) {
        const id = values[at] ?? '';
        if (!pins.has(id)) pins.set(id, pins.size + 1);
      }
      return pins;
    }, bring);
  }

  /** Looks the pins up by a text of the request. */
  static by(text: Input<'text'>, table: ReadonlyMap<string, Pins>, bring = false): Pin {
    const none: Pins = new Map();
    return new Pin((input) => {
      const { values, status } = input.column(text);
      return (isKnown(status[0]) ? table.get(values[0] ?? '') : undefined) ?? none;
    }, bring);
  }

  apply(input: StepInput, ranking: RankingEdit): RuleReport {
    let applied = 0;
    for (const [id, position] of this.#pinsOf(input)) {
      const row = ranking.rowOf(id);
      if (row === undefined || !contains(input.rows, row)) continue;
      ranking.pin(row, position);
      applied++;
    }
    return { applied, skipped: 0 };
  }
}

/** A binary search, because rows ascend. */
function contains(rows: Int32Array, row: number): boolean {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle] ?? row) < row) low = middle + 1;
    else high = middle;
  }
  return rows[low] === row;
}
