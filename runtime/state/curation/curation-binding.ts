import type { ColumnOf } from '../../ground/api/columns.js';
import type { CuratedRule, CurationInput } from '../../ground/api/curation.js';
import { isKnown } from '../../ground/api/status.js';
import type { CurationRule } from '../../project/config/model/curation.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { spanWithin, type Located } from '../../project/config/yaml/source.js';
import { normalizeQuery } from '../../ground/core/normalize-query.js';
import type { Pieces } from '../../ground/core/pieces.js';
import type { Frame } from '../../language/frame/frame.js';
import type { Expected } from '../../language/expression/compile.js';
import { FAILED_ELSEWHERE } from '../../language/expression/environment.js';
import { LateExpression, type ComparedName, type KnownNames, type LatePlace } from './late-expression.js';
import type { AddedLimits, RulePlan, WiderPlan } from './rule-plan.js';
import { put, RuleIndex } from './rule-index.js';
import { splitCondition, type SplitCondition } from './split-condition.js';

const CONDITION: Expected = { type: 'bool', scope: 'request' };
const WHERE: Expected = { type: 'bool', scope: 'any' };
const COMPARED: Expected = { type: 'text', scope: 'request' };

/** What the rules of a list can name in a pipeline that applies it. */
export interface ListUse {
  readonly pipeline: string;
  /** What campaigns can be for, because requests have it. */
  readonly on: readonly ('query' | 'category')[];
  /** What conditions on candidates can compare. */
  readonly attributes: readonly ComparedName[];
}

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

/** What rules name and the plan does not read, with the place of the first expression that names it. */
export type AddedPaths = ReadonlyMap<string, Located<string>['at']>;

/** The rules of a list, compiled for one step. It never changes. */
export interface CurationSnapshot {
  /** Rules for every request. */
  readonly always: readonly BoundRule[];
  readonly byQuery: RuleIndex<BoundRule>;
  /** By the id of the category. */
  readonly byCategory: ReadonlyMap<string, readonly BoundRule[]>;
  /** Whether a rule brings its products. */
  readonly brings: boolean;
  /** Rules by the text that an expression must equal. */
  readonly byText: readonly {
    readonly of: LateExpression;
    readonly rules: ReadonlyMap<string, readonly BoundRule[]>;
  }[];
  readonly added: AddedPaths;
}

const NO_RULES: CurationSnapshot = {
  always: [],
  byQuery: new RuleIndex(),
  byCategory: new Map(),
  brings: false,
  byText: [],
  added: new Map(),
};

/** The list of one step of a plan. The rules can be exchanged while requests run. */
export class CurationBinding implements CurationInput {
  /** Of requests that run the plan as it was compiled. Those of a wider plan are in it. */
  #snapshot: CurationSnapshot = NO_RULES;
  #inService: CurationSnapshot = NO_RULES;

  /**
   * @param compared slots of the texts of the request that rules name; undefined if the pipeline has none
   */
  constructor(
    readonly list: string,
    readonly pipeline: string,
    readonly plan: RulePlan,
    private readonly names: KnownNames,
    private readonly compared: { readonly query: number | undefined; readonly category: number | undefined },
  ) {}

  get named(): ListUse {
    return {
      pipeline: this.pipeline,
      on: (['query', 'category'] as const).filter((name) => this.compared[name] !== undefined),
      attributes: [
        ...new Map(
          [...this.plan.attributes(), ...this.names.compared()].map((one) => [one.name, one]),
        ).values(),
      ],
    };
  }

  get brings(): boolean {
    return this.#inService.brings;
  }

  /** What the rules in service name and the plan as it was compiled does not read. */
  get added(): AddedPaths {
    return this.#inService.added;
  }

  /**
   * Exchanges the rules. Requests that already found theirs keep them.
   * @param isWider whether they are compiled for a wider plan, which has them
   */
  use(snapshot: CurationSnapshot, isWider: boolean): void {
    this.#inService = snapshot;
    if (!isWider) this.#snapshot = snapshot;
  }

  /**
   * Compiles rules for this step. Errors go to `diagnostics`; then the result must not be used.
   * @param wider the plan that will run them. Without it, the result must not be used either if rules name more than the
   *   plan reads
   */
  *compile(
    rules: readonly CurationRule[],
    diagnostics: Diagnostics,
    wider: WiderPlan | undefined,
    limits: AddedLimits,
  ): Pieces<CurationSnapshot> {
    const added = new Map<string, Located<string>['at']>();
    const place = this.#place(wider, limits);
    // Many rules may have the same text. Its errors are reported for each.
    const known = new Map<string, ReturnType<typeof LateExpression.compile>>();
    const splits = new Map<string, SplitCondition | undefined>();
    const compiled = (text: Located<string>, expected: Expected): LateExpression | undefined => {
      const key = `${expected.type} ${expected.scope} ${text.value}`;
      const made = known.get(key) ?? LateExpression.compile(text.value, expected, place(text.at, added));
      known.set(key, made);
      if (made instanceof LateExpression) return made;
      for (const { code, start, end, message, help } of made)
        if (message !== FAILED_ELSEWHERE)
          diagnostics.error(code, spanWithin(text, start, end), message, help);
      return undefined;
    };
    const splitOf = ({ value }: Located<string>): SplitCondition | undefined => {
      if (!splits.has(value)) splits.set(value, splitCondition(value));
      return splits.get(value);
    };
    const always: BoundRule[] = [];
    const byQuery = new RuleIndex<BoundRule>();
    const byCategory = new Map<string, BoundRule[]>();
    const byText = new Map<LateExpression, Map<string, BoundRule[]>>();
    for (const [order, rule] of rules.entries()) {
      if (diagnostics.areEnough) break;
      yield;
      const { query, category, when } = rule;
      // The whole condition is compiled first, so that every error has its place.
      const whole = when && compiled(when, CONDITION);
      if (when !== undefined && whole === undefined) continue;
      const split =
        query === undefined && category === undefined && when !== undefined ? splitOf(when) : undefined;
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
      else if (category !== undefined) this.#addCategory(byCategory, bound, category, diagnostics);
      else if (isSplit && split !== undefined) {
        let rulesOf = byText.get(of);
        if (rulesOf === undefined) byText.set(of, (rulesOf = new Map<string, BoundRule[]>()));
        put(rulesOf, split.equals, bound);
      } else always.push(bound);
    }
    const brings = rules.some((rule) => rule.brings === true && rule.pins.length + rule.sponsors.length > 0);
    return {
      always,
      byQuery,
      byCategory,
      brings,
      byText: [...byText].map(([of, texts]) => ({ of, rules: texts })),
      added,
    };
  }

  /** Where expressions find their values. They note in `added` what the plan as it was compiled does not read. */
  #place(wider: WiderPlan | undefined, limits: AddedLimits) {
    return (at: Located<string>['at'], added: Map<string, Located<string>['at']>): LatePlace => ({
      names: this.names,
      plan: (wider ?? this.plan).layout,
      find: (path) => {
        const segments = path.split('.');
        const found = wider?.source(segments) ?? this.plan.find(segments, limits);
        if (!('problem' in found) && !added.has(path)) added.set(path, at);
        return 'problem' in found && segments.length === 1 ? undefined : found;
      },
    });
  }

  #addQuery(
    index: RuleIndex<BoundRule>,
    bound: BoundRule,
    { text, match }: NonNullable<CurationRule['query']>,
    diagnostics: Diagnostics,
  ): void {
    const query = normalizeQuery(text.value);
    if (this.compared.query === undefined)
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

  #addCategory(
    index: Map<string, BoundRule[]>,
    bound: BoundRule,
    { value, at }: Located<string>,
    diagnostics: Diagnostics,
  ): void {
    if (this.compared.category === undefined)
      diagnostics.error(
        'unknown_name',
        at,
        `requests of the pipeline \`${this.pipeline}\` name no category`,
        'add `category: optional(string)` to `request:`, or name it by `category:` of the step `use: curation`',
      );
    else put(index, value, bound);
  }

  /** The rules that apply to a request, in the order of the list. */
  match(frame: Frame): readonly CuratedRule[] {
    const { at = frame.now, rules: drafted, heard } = frame.preview ?? {};
    const { always, byQuery, byCategory, byText } =
      ((drafted?.get(this) ?? frame.rules?.get(this)) as CurationSnapshot | undefined) ?? this.#snapshot;
    const found: BoundRule[] = [...always];
    if (!byQuery.isEmpty && this.compared.query !== undefined) {
      const text = firstText(frame.text(this.compared.query));
      if (text !== undefined) found.push(...byQuery.find(text));
    }
    if (byCategory.size > 0 && this.compared.category !== undefined) {
      const id = firstText(frame.text(this.compared.category));
      if (id !== undefined) found.push(...(byCategory.get(id) ?? []));
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
    heard?.(active.map(({ rule }) => rule.name));
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
    sponsors: rule.sponsors.map(({ places, id, label }) => ({ places, id: id.value, label })),
    contents: rule.banners.map(({ content }) => content),
    brings: rule.brings === true,
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
