import {
  type BringInput,
  type CausedChange,
  type CuratedRule,
  type CurationInput,
  isKnown,
  type JsonObject,
  type RankingEdit,
  type RuleComponent,
  type Pieces,
  type RuleReport,
  soon,
  type StepInput,
} from 'millrace/api';

/** The most ids that an event of a rule lists. */
const MOST_IDS = 20;
/** The most rules of a request that have an event. A request has 1,000 events of all its components. */
const MOST_EVENTS = 200;

/** Applies the rules of a list that are active for the request. */
export class Curation implements RuleComponent {
  readonly scoring = 'changes';
  readonly promotes = true;
  readonly #list: CurationInput;
  readonly #bring: boolean;

  /** @param bring whether what any rule pins becomes a candidate; what a campaign pins does in any case */
  constructor(list: CurationInput, bring: boolean) {
    this.#list = list;
    this.#bring = bring;
  }

  mayBring = (): boolean => this.#bring || this.#list.brings === true;

  brings = (input: BringInput): Iterable<string> =>
    input
      .curated(this.#list)
      .flatMap(({ pins, sponsors, brings }) =>
        this.#bring || brings ? [...pins, ...sponsors].map(({ id }) => id) : [],
      );

  apply(input: StepInput, ranking: RankingEdit): RuleReport | Promise<RuleReport> {
    const rules = input.curated(this.#list);
    return rules.length === 0
      ? { applied: 0, skipped: 0 }
      : soon(applying(rules, input, ranking), () => {
          input.signal.throwIfAborted();
        });
  }
}

/** Each rule is one piece, because a request may meet a thousand rules. */
function* applying(
  rules: readonly CuratedRule[],
  input: StepInput,
  ranking: RankingEdit,
): Pieces<RuleReport> {
  const isWorkedOn = new Uint8Array(input.count);
  for (const row of input.rows) isWorkedOn[row] = 1;
  const run = new Run(input, ranking, (id) => {
    const row = ranking.rowOf(id);
    return row !== undefined && isWorkedOn[row] === 1 ? row : undefined;
  });
  for (const rule of rules) {
    run.apply(rule);
    yield;
  }
  run.end();
  return { applied: run.changed.size, skipped: run.skipped.size };
}

/** The rules of one request. */
class Run {
  readonly changed: RowSet;
  readonly skipped: RowSet;
  /** By row: the rule of the latest pin, which is the one that holds, and its position. */
  readonly #pinnedBy = new Map<number, { readonly rule: CuratedRule; readonly position: number }>();
  readonly #hidden = new Set<number>();
  /** The rules that sponsor, in their order. */
  readonly #sponsoring: CuratedRule[] = [];
  #events = 0;

  constructor(
    private readonly input: StepInput,
    private readonly ranking: RankingEdit,
    private readonly rowOf: (id: string) => number | undefined,
  ) {
    this.changed = new RowSet(input.count);
    this.skipped = new RowSet(input.count);
  }

  apply(rule: CuratedRule): void {
    const { ranking } = this;
    const pinned: Record<string, number> = {};
    const hidden: string[] = [];
    for (const id of rule.hides) {
      const row = this.rowOf(id);
      if (row === undefined) continue;
      ranking.hide(row);
      this.#note(row, rule, 'hidden');
      this.#hidden.add(row);
      hidden.push(id);
    }
    for (const { position, id } of rule.pins) {
      const row = this.rowOf(id);
      if (row === undefined) continue;
      ranking.pin(row, position, 'curation');
      this.changed.add(row);
      this.#pinnedBy.set(row, { rule, position });
      pinned[id] = position;
    }
    let boosted = 0;
    for (const { where, change, amount } of rule.boosts)
      boosted += this.#each(rule, where, 'score', (row) => {
        const score = ranking.scores[row] ?? 0;
        // A part of the score's absolute value, so that a factor above 1 also raises a negative score.
        const after = change === 'add' ? score + amount : score + Math.abs(score) * (amount - 1);
        if (!Number.isFinite(after)) return false;
        ranking.scores[row] = after;
        return true;
      });
    let buried = 0;
    for (const { where } of rule.buries)
      buried += this.#each(rule, where, 'place', (row) => {
        ranking.bury(row);
        return true;
      });
    for (const content of rule.contents) ranking.show(content);
    if (rule.sponsors.length > 0) this.#sponsoring.push(rule);
    const data: JsonObject = {
      rule: rule.name,
      ...(Object.keys(pinned).length === 0 ? {} : { pinned }),
      ...(hidden.length === 0 ? {} : { hidden: hidden.slice(0, MOST_IDS) }),
      ...(boosted === 0 ? {} : { boosted }),
      ...(buried === 0 ? {} : { buried }),
      ...(rule.contents.length === 0 ? {} : { content: rule.contents.map(({ place }) => place) }),
    };
    this.#emit(data);
  }

  #emit(data: JsonObject): void {
    if (Object.keys(data).length > 1 && this.#events++ < MOST_EVENTS) this.input.emit({ data });
  }

  /** Gives paid places what pins left. Of two sponsors of one place, that of the later rule has it. */
  #sponsor(): void {
    const taken = new Set([...this.#pinnedBy.values()].map(({ position }) => position));
    const placed = new Set([...this.#pinnedBy.keys(), ...this.#hidden]);
    for (const rule of this.#sponsoring.reverse()) {
      const sponsored: Record<string, number> = {};
      for (const { places, id, label } of rule.sponsors) {
        const row = this.rowOf(id);
        const place = places.find((one) => !taken.has(one));
        if (row === undefined || place === undefined || placed.has(row)) continue;
        this.ranking.sponsor(row, place, label);
        this.#note(row, rule, 'place');
        taken.add(place);
        placed.add(row);
        sponsored[id] = place;
      }
      this.#emit({ rule: rule.name, ...(Object.keys(sponsored).length === 0 ? {} : { sponsored }) });
    }
  }

  /** Names the rules of the pins, and sponsors. */
  end(): void {
    for (const [row, { rule }] of this.#pinnedBy) this.#note(row, rule, 'place');
    this.#sponsor();
  }

  /** Changes the candidates that meet a condition. @returns their number */
  #each(
    rule: CuratedRule,
    { values, status, stride }: CuratedRule['buries'][number]['where'],
    what: CausedChange,
    change: (row: number) => boolean,
  ): number {
    let count = 0;
    for (const row of this.input.rows) {
      const cell = row * stride;
      if (!isKnown(status[cell])) this.skipped.add(row);
      else if (values[cell] !== 0 && change(row)) {
        this.#note(row, rule, what);
        count++;
      }
    }
    return count;
  }

  #note(row: number, { name }: CuratedRule, what: CausedChange): void {
    this.changed.add(row);
    this.ranking.cause(row, name, what);
  }
}

/** Rows of the request, each counted once. A thousand rules may change ten thousand of them. */
class RowSet {
  readonly #has: Uint8Array;
  size = 0;

  constructor(count: number) {
    this.#has = new Uint8Array(count);
  }

  add(row: number): void {
    if (this.#has[row] === 1) return;
    this.#has[row] = 1;
    this.size++;
  }
}
