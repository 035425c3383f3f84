import {
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
  readonly #list: CurationInput;

  constructor(list: CurationInput) {
    this.#list = list;
  }

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
  /** By row: the rule of the latest pin, which is the one that holds. */
  readonly #pinnedBy = new Map<number, CuratedRule>();
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
      hidden.push(id);
    }
    for (const { position, id } of rule.pins) {
      const row = this.rowOf(id);
      if (row === undefined) continue;
      ranking.pin(row, position, 'curation');
      this.changed.add(row);
      this.#pinnedBy.set(row, rule);
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
    const data: JsonObject = {
      rule: rule.name,
      ...(Object.keys(pinned).length === 0 ? {} : { pinned }),
      ...(hidden.length === 0 ? {} : { hidden: hidden.slice(0, MOST_IDS) }),
      ...(boosted === 0 ? {} : { boosted }),
      ...(buried === 0 ? {} : { buried }),
    };
    if (Object.keys(data).length > 1 && this.#events++ < MOST_EVENTS) this.input.emit({ data });
  }

  /** Names the rules of the pins. */
  end(): void {
    for (const [row, rule] of this.#pinnedBy) this.#note(row, rule, 'place');
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
