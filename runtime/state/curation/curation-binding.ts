import type { ColumnOf } from '../../ground/api/columns.js';
import type { CuratedRule, CurationInput } from '../../ground/api/curation.js';
import { isKnown } from '../../ground/api/status.js';
import type { CurationRule } from '../../project/config/model/curation.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { Located } from '../../project/config/yaml/source.js';
import { normalizeQuery } from '../../ground/core/normalize-query.js';
import type { Pieces } from '../../ground/core/pieces.js';
import type { Frame } from '../../language/frame/frame.js';
import type { FrameLayout } from '../../language/frame/frame-layout.js';
import type { Expected } from '../../language/expression/compile.js';
import type { KnownNames } from './late-expression.js';
import { LateExpression } from './late-expression.js';
import { put, RuleIndex } from './rule-index.js';
import { splitCondition } from './split-condition.js';

const CONDITION: Expected = { type: 'bool', scope: 'request' };
const WHERE: Expected = { type: 'bool', scope: 'any' };
const COMPARED: Expected = { type: 'text', scope: 'request' };

interface BoundRule {
  readonly rule: CurationRule;
  /** The place in the list. */
  readonly order: number;
  /** What must be true besides the look-up that found the rule. */
  readonly condition: LateExpression | undefined;
  readonly boosts: readonly {
    readonly where: LateExpression;
    readonly change: 'multiply' | 'add';
    readonly amount: number;
  }[];
  readonly buries: readonly LateExpression[];
}

/** The rules of a list, compiled for one step. It never changes. */
export interface CurationSnapshot {
  /** Rules for every request. */
  readonly always: readonly BoundRule[];
  readonly byQuery: RuleIndex<BoundRule>;
  /** Rules by the text that an expression must equal. */
  readonly byText: readonly {
    readonly of: LateExpression;
    readonly rules: ReadonlyMap<string, readonly BoundRule[]>;
  }[];
}

const NO_RULES: CurationSnapshot = { always: [], byQuery: new RuleIndex(), byText: [] };

/** The list of one step of a plan. The rules can be exchanged while requests run. */
export class CurationBinding implements CurationInput {
  #snapshot: CurationSnapshot = NO_RULES;

  /**
   * @param layout of the plan
   * @param query slot of the query; undefined if the pipeline has none
   */
  constructor(
    readonly list: string,
    readonly pipeline: string,
    private readonly names: KnownNames,
    private readonly layout: FrameLayout,
    private readonly query: number | undefined,
  ) {}

  /** Exchanges the rules. Requests that already found theirs keep them. */
  use(snapshot: CurationSnapshot): void {
    this.#snapshot = snapshot;
  }

  /** Compiles rules for this step. Errors go to `diagnostics`; then the result must not be used. */
  *compile(rules: readonly CurationRule[], diagnostics: Diagnostics): Pieces<CurationSnapshot> {
    const known = new Map<string, LateExpression | undefined>();
    const compiled = (text: Located<string>, expected: Expected): LateExpression | undefined => {
      const key = `${expected.type} ${expected.scope} ${text.value}`;
      const found = known.get(key);
      if (found !== undefined) return found;
      const made = LateExpression.compile(text, expected, this.names, this.layout, diagnostics);
      known.set(key, made);
      return made;
    };
    const always: BoundRule[] = [];
    const byQuery = new RuleIndex<BoundRule>();
    const byText = new Map<LateExpression, Map<string, BoundRule[]>>();
    for (const [order, rule] of rules.entries()) {
      yield;
      const { query, when } = rule;
      const split = query === undefined && when !== undefined ? splitCondition(when.value) : undefined;
      // The whole condition is compiled first, so that every error has its place.
      const whole = when && compiled(when, CONDITION);
      if (when !== undefined && whole === undefined) continue;
      const of = split && when && compiled({ value: split.of, at: when.at }, COMPARED);
      const rest =
        split?.rest === undefined || when === undefined
          ? undefined
          : compiled({ value: split.rest, at: when.at }, CONDITION);
      const boosts: BoundRule['boosts'][number][] = [];
      for (const { where, change, amount } of rule.boosts) {
        yield;
        const expression = compiled(where, WHERE);
        if (expression !== undefined) boosts.push({ where: expression, change, amount });
      }
      const isSplit = of !== undefined && (split?.rest === undefined || rest !== undefined);
      const bound: BoundRule = {
        rule,
        order,
        condition: isSplit ? rest : whole,
        boosts,
        buries: rule.buries.flatMap((where) => compiled(where, WHERE) ?? []),
      };
      if (query !== undefined) this.#addQuery(byQuery, bound, query, diagnostics);
      else if (isSplit && split !== undefined) {
        let rulesOf = byText.get(of);
        if (rulesOf === undefined) byText.set(of, (rulesOf = new Map<string, BoundRule[]>()));
        put(rulesOf, split.equals, bound);
      } else always.push(bound);
    }
    return { always, byQuery, byText: [...byText].map(([of, texts]) => ({ of, rules: texts })) };
  }

  #addQuery(
    index: RuleIndex<BoundRule>,
    bound: BoundRule,
    { text, match }: NonNullable<CurationRule['query']>,
    diagnostics: Diagnostics,
  ): void {
    const query = normalizeQuery(text.value);
    if (this.query === undefined)
      diagnostics.error(
        'unknown_name',
        text.at,
        `the pipeline \`${this.pipeline}\` has no query to compare with`,
        'name the query of its requests by `query:` of the step `use: curation`',
      );
    else if (query === '')
      diagnostics.error(
        'never_true',
        text.at,
        'the rule never applies: its query has no letter and no digit',
        'write the words that users search for',
      );
    else index.add({ query, match }, bound);
  }

  /**
   * The rules that apply to a request, in the order of the list.
   * @param at epoch milliseconds
   */
  match(frame: Frame, at: number): readonly CuratedRule[] {
    const { always, byQuery, byText } = this.#snapshot;
    const found: BoundRule[] = [...always];
    if (!byQuery.isEmpty && this.query !== undefined) {
      const text = firstText(frame.text(this.query));
      if (text !== undefined) found.push(...byQuery.find(text));
    }
    for (const { of, rules } of byText) {
      const text = firstText(of.column(frame) as ColumnOf<'text'>);
      if (text !== undefined) found.push(...(rules.get(text) ?? []));
    }
    if (found.length === 0) return NONE;
    const active = found.filter(({ rule, condition }) => {
      if (at < rule.from || at >= rule.until) return false;
      return condition === undefined || condition.numbers(frame).values[0] === 1;
    });
    active.sort((a, b) => a.order - b.order);
    return active.map((bound) => curated(bound, frame));
  }
}

const NONE: readonly CuratedRule[] = [];

/** Conditions on candidates are computed when they are read, because a request may meet a thousand rules. */
function curated({ rule, boosts, buries }: BoundRule, frame: Frame): CuratedRule {
  return {
    name: rule.name,
    pins: rule.pins.map(({ position, id }) => ({ position, id: id.value })),
    hides: rule.hides.map(({ value }) => value),
    boosts: boosts.map(({ where, change, amount }) => ({
      change,
      amount,
      get where() {
        return where.numbers(frame);
      },
    })),
    buries: buries.map((where) => ({
      get where() {
        return where.numbers(frame);
      },
    })),
  };
}

function firstText({ values, status }: ColumnOf<'text'>): string | undefined {
  return isKnown(status[0]) ? values[0] : undefined;
}
