import type { CurationList, CurationRule } from '../../project/config/model/curation.js';
import { checkConflicts } from '../../project/config/curation/check-conflicts.js';
import type { AllowedHosts } from '../../project/settings/allowed-hosts.js';
import { DEFAULT_TIME_ZONE } from '../../project/config/project/load-time-zone.js';
import { Diagnostics, type Diagnostic } from '../../project/config/diagnostics/diagnostics.js';
import { soon } from '../../ground/core/pieces.js';
import { checkBanners } from './check-banners.js';
import { warnOfRules } from './warn-of-rules.js';
import type { CurationBinding, CurationSnapshot, ListUse } from './curation-binding.js';

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
    for (const { name, rules } of this.states()) {
      use((await this.#compile(name, rules, diagnostics)) ?? new Map());
      await soon(warnOfRules(rules.file, diagnostics));
    }
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
    const compiled = await this.compiled(list, all, diagnostics);
    if (compiled === undefined) return diagnostics.all;
    await store?.();
    use(compiled);
    const refused = Object.fromEntries(Object.entries(state.refused).filter(([of]) => of !== source));
    this.#states.set(list, { ...state, rules: all, refused });
    return [];
  }

  /** Checks and compiles rules for all steps of a list, beside those in service. @returns undefined if they have errors */
  async compiled(
    list: string,
    { file, api }: ListState['rules'],
    diagnostics: Diagnostics,
  ): Promise<CompiledRules | undefined> {
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
    return diagnostics.hasErrors ? undefined : this.#compile(list, { file, api }, diagnostics);
  }

  /** Compiles rules for all steps of a list. @returns undefined if they have errors */
  async #compile(
    list: string,
    { file, api }: ListState['rules'],
    diagnostics: Diagnostics,
  ): Promise<CompiledRules | undefined> {
    const rules = [...file, ...api];
    const bound = this.#bindings.filter((one) => one.list === list);
    const found = new Diagnostics();
    if (this.imageHosts !== undefined) checkBanners(rules, this.imageHosts, found);
    const compiled = new Map<CurationBinding, CurationSnapshot>();
    for (const binding of bound) compiled.set(binding, await soon(binding.compile(rules, found)));
    diagnostics.addAll(found.all);
    return found.hasErrors ? undefined : compiled;
  }
}

/** The rules of a list, by the steps that apply it. */
export type CompiledRules = ReadonlyMap<CurationBinding, CurationSnapshot>;

/** Puts rules in service: all steps change within one turn of the event loop. */
function use(compiled: CompiledRules): void {
  for (const [binding, snapshot] of compiled) binding.use(snapshot);
}
