import type { CurationList, CurationRule } from '../../project/config/model/curation.js';
import { checkConflicts } from '../../project/config/curation/check-conflicts.js';
import type { AllowedHosts } from '../../project/settings/allowed-hosts.js';
import { DEFAULT_TIME_ZONE } from '../../project/config/project/load-time-zone.js';
import { Diagnostics, type Diagnostic } from '../../project/config/diagnostics/diagnostics.js';
import type { DiagnosticCode } from '../../project/config/diagnostics/diagnostic-codes.js';
import { soon } from '../../ground/core/pieces.js';
import { checkBanners } from './check-banners.js';
import { warnOfRules } from './warn-of-rules.js';
import type { AddedPaths, CurationBinding, CurationSnapshot, ListUse } from './curation-binding.js';
import { ADDED_LIMITS, type AddedLimits, type RulePlan, type WiderPlan } from './rule-plan.js';

/** Where rules of a list come from: its file, or the API. */
export type RuleSource = 'file' | 'api';

/** A list in service. */
export interface ListState {
  readonly name: string;
  /** The path of its file. */
  readonly path: string;
  readonly rules: Readonly<Record<RuleSource, readonly CurationRule[]>>;
  /** What is wrong with the newest rules of a source, which are not in service. */
  readonly refused: Readonly<Partial<Record<RuleSource, readonly Diagnostic[]>>>;
}

/**
 * The lists of a project, and the steps that apply them. New rules replace the old ones at once in all steps, and only if
 * they have no errors for any step.
 */
export class CurationLists {
  /** Whether the last attempt to read the stored rules failed, so that newer ones may exist. */
  isStale = false;
  /** Differs after each change of the rules in service. */
  revision = 0;
  /** Hears of plans that new requests run from now on, in the same turn. */
  onPlans: (() => void) | undefined;
  readonly #states: Map<string, ListState>;
  readonly #bindings: CurationBinding[] = [];
  /** One change is made at a time. */
  #changing: Promise<unknown> = Promise.resolve();

  /**
   * @param zone the time zone of the project
   * @param imageHosts the hosts of images that banners may show; without it, they are not checked
   */
  constructor(
    lists: readonly CurationList[],
    readonly zone: string = DEFAULT_TIME_ZONE,
    private readonly imageHosts?: AllowedHosts,
    private readonly limits: AddedLimits = ADDED_LIMITS,
  ) {
    this.#states = new Map(
      lists.map(({ name, file, rules }) => [
        name,
        { name, path: file.path, rules: { file: rules, api: [] }, refused: {} },
      ]),
    );
  }

  names(): readonly string[] {
    return [...this.#states.keys()];
  }

  get(name: string): ListState | undefined {
    return this.#states.get(name);
  }

  states(): readonly ListState[] {
    return [...this.#states.values()];
  }

  /** The names of the pipelines that apply a list. */
  pipelinesOf(list: string): readonly string[] {
    return [...new Set(this.#bindings.flatMap((one) => (one.list === list ? [one.pipeline] : [])))];
  }

  /** What the rules of a list can name, by the steps that apply it. */
  usesOf(list: string): readonly ListUse[] {
    return this.#bindings.flatMap((one) => (one.list === list ? [one.named] : []));
  }

  bind(binding: CurationBinding): void {
    this.#bindings.push(binding);
  }

  /** Compiles the rules of all lists for the steps that were bound. Errors go to `diagnostics`. */
  async compile(diagnostics: Diagnostics): Promise<void> {
    const all = new Map(this.states().map(({ name, rules }) => [name, rules]));
    const compiled = await this.#compile(all, diagnostics);
    if (compiled !== undefined) this.#use(compiled);
    for (const { rules } of this.states()) await soon(warnOfRules(rules.file, diagnostics));
  }

  /**
   * Replaces the rules of a list that come from one source, unless they have errors.
   * @param store stores the rules, once they are known to be sound; if it rejects, the old rules stay in service
   * @returns the errors; then the old rules stay in service
   */
  replace(
    list: string,
    source: RuleSource,
    rules: readonly CurationRule[],
    store?: () => Promise<void>,
  ): Promise<readonly Diagnostic[]> {
    const change = this.#changing.then(() => this.#replace(list, source, rules, store));
    this.#changing = change.catch(() => undefined);
    return change;
  }

  /** Remembers that the newest rules of a source cannot be used. */
  refuse(list: string, source: RuleSource, errors: readonly Diagnostic[]): void {
    const state = this.#states.get(list);
    if (state !== undefined)
      this.#states.set(list, { ...state, refused: { ...state.refused, [source]: errors } });
  }

  async #replace(
    list: string,
    source: RuleSource,
    rules: readonly CurationRule[],
    store?: () => Promise<void>,
  ): Promise<readonly Diagnostic[]> {
    const state = this.#states.get(list);
    if (state === undefined) throw new RangeError(`there is no list ${list}`);
    const all = { ...state.rules, [source]: rules };
    const diagnostics = new Diagnostics();
    const compiled = await this.compiled(new Map([[list, all]]), diagnostics);
    if (compiled === undefined) return diagnostics.all;
    await store?.();
    this.#use(compiled);
    const refused = Object.fromEntries(Object.entries(state.refused).filter(([of]) => of !== source));
    this.#states.set(list, { ...state, rules: all, refused });
    return [];
  }

  /**
   * Checks and compiles rules for all steps of their lists, beside those in service. Other lists keep theirs.
   * @returns undefined if they have errors
   */
  async compiled(changed: ChangedRules, diagnostics: Diagnostics): Promise<CompiledRules | undefined> {
    for (const { file, api } of changed.values()) {
      const names = new Set(file.map(({ name }) => name));
      const same = api.find(({ name }) => names.has(name));
      if (same !== undefined)
        diagnostics.error(
          'duplicate_name',
          same.at,
          `the file of the list has the rule ${same.name} too`,
          'choose another name',
        );
      if (file.length > 0 && api.length > 0)
        await soon(checkConflicts({ rules: [...file, ...api] }, diagnostics));
    }
    return diagnostics.hasErrors ? undefined : this.#compile(changed, diagnostics);
  }

  async #compile(changed: ChangedRules, diagnostics: Diagnostics): Promise<CompiledRules | undefined> {
    const found = new Diagnostics();
    if (this.imageHosts !== undefined)
      for (const { file, api } of changed.values()) checkBanners([...file, ...api], this.imageHosts, found);
    const lists = new Map<CurationBinding, CurationSnapshot>();
    const plans = new Map<RulePlan, WiderPlan | undefined>();
    for (const { list, plan } of this.#bindings)
      if (changed.has(list) && !plans.has(plan))
        plans.set(plan, await this.#compilePlan(plan, changed, { lists, found }));
    diagnostics.addAll(found.all);
    return found.hasErrors ? undefined : { lists, plans };
  }

  /**
   * Compiles the rules of one plan. If they name what it does not read, it is made anew with these columns.
   * @returns the wider plan; undefined if the plan as it was compiled suffices
   */
  async #compilePlan(
    plan: RulePlan,
    changed: ChangedRules,
    { lists, found }: { readonly lists: Map<CurationBinding, CurationSnapshot>; readonly found: Diagnostics },
  ): Promise<WiderPlan | undefined> {
    const bindings = this.#bindings.filter((one) => one.plan === plan);
    const rulesOf = ({ list }: CurationBinding): readonly CurationRule[] => {
      const { file, api } = changed.get(list) ?? this.#states.get(list)?.rules ?? NO_RULES;
      return [...file, ...api];
    };
    const [own, others] = [
      bindings.filter(({ list }) => changed.has(list)),
      bindings.filter(({ list }) => !changed.has(list)),
    ];
    const added = new Map(others.flatMap((one) => [...one.added]));
    for (const binding of own) {
      const compiled = await soon(binding.compile(rulesOf(binding), found, undefined, this.limits));
      lists.set(binding, compiled);
      for (const [path, at] of compiled.added) if (!added.has(path)) added.set(path, at);
    }
    if (found.hasErrors || (added.size === 0 && plan.inService === undefined)) return undefined;
    const until = performance.now() + this.limits.ms;
    const wider = added.size === 0 ? undefined : plan.widened(added.keys());
    if (wider !== undefined && wider.added > this.limits.columns) {
      const message = `the rules of the pipeline's lists need ${wider.added} columns that its plan does not read, at most ${this.limits.columns} can be added`;
      refuse('added_columns', added, found, message);
      return undefined;
    }
    const all = new Map<CurationBinding, CurationSnapshot>();
    try {
      for (const binding of bindings) {
        const work = binding.compile(rulesOf(binding), found, wider, this.limits);
        all.set(binding, await soon(work, () => check(until)));
        check(until);
      }
    } catch (error) {
      if (error !== TOO_LATE) throw error;
      const message = `the plan takes longer than ${this.limits.ms} ms; nothing changed`;
      refuse('late_plan', added, found, message);
    }
    for (const [binding, snapshot] of all) lists.set(binding, snapshot);
    if (wider !== undefined) wider.rules = all;
    return wider;
  }

  /** Puts rules in service: all steps and plans change within one turn of the event loop. */
  #use({ lists, plans }: CompiledRules): void {
    let isOther = false;
    for (const [plan, wider] of plans) {
      isOther ||= plan.inService !== wider;
      plan.inService = wider;
    }
    for (const [binding, snapshot] of lists) binding.use(snapshot, binding.plan.inService !== undefined);
    this.revision++;
    if (isOther) this.onPlans?.();
  }
}

const NO_RULES: ListState['rules'] = { file: [], api: [] };

/** Reports that a plan cannot be made anew, at the last expression that names what it does not read. */
function refuse(code: DiagnosticCode, added: AddedPaths, found: Diagnostics, message: string): void {
  const [path, at] = [...added].at(-1) ?? [];
  if (path === undefined || at === undefined) throw new Error(message);
  const help =
    code === 'late_plan'
      ? 'send it again, or list the attributes under `reads` of the step `use: curation`'
      : 'name fewer attributes, or list them under `reads` of the step `use: curation`';
  found.error(code, at, `\`${path}\`: ${message}`, help);
}

const TOO_LATE = new Error('the plan takes too long');

/** @throws TOO_LATE */
function check(until: number): void {
  if (performance.now() > until) throw TOO_LATE;
}

/** By list: the rules that replace those in service. */
export type ChangedRules = ReadonlyMap<string, ListState['rules']>;

/** Rules that are compiled beside those in service. */
export interface CompiledRules {
  /** By step: the rules of its list. */
  readonly lists: ReadonlyMap<CurationBinding, CurationSnapshot>;
  /** The plans that run them; undefined: the plan as it was compiled. */
  readonly plans: ReadonlyMap<RulePlan, WiderPlan | undefined>;
}
