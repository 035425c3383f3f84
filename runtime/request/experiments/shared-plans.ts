import { isNode } from 'yaml';
import type { FeatureRead, HydrationNode, Plan, PlannedStep } from '../compile/plan.js';
import type { StepDefinition } from '../../project/config/model/pipelines.js';
import type { SharedRun } from './shared-run.js';
import { sharedSlots } from './shared-run.js';

/**
 * What an arm that is a pipeline shares with control: what both read of the store, and the steps at the start that are
 * written alike. Steps are alike if their YAML is the same, and all names in it mean the same.
 */
export function sharedByPlans(control: Plan, arm: Plan): SharedRun {
  const both = new SharedNames(control, arm);
  const hasReads = both.addReads();
  const steps = [control, arm].map((plan) => plan.steps.filter(({ kind }) => kind !== 'effect'));
  const [theirs = [], own = []] = steps;
  let count = 0;
  while (count < own.length && both.addStep(theirs[count], own[count])) count++;
  const first = theirs[count];
  const common = new Set(own.slice(0, count));
  return {
    hasReads,
    columns: [...both.columns],
    isShared: sharedSlots(arm, [...both.columns]),
    histories: [...both.histories],
    first: first === undefined ? control.steps.length : control.steps.indexOf(first),
    runs: arm.steps.map((step) => step.kind !== 'effect' && !common.has(step)),
  };
}

/** The names that mean the same in two plans, with their columns. */
class SharedNames {
  /** Slots of control, by slot of the arm. */
  readonly columns = new Map<number, number>();
  readonly histories = new Map<number, number>();
  readonly #control: Plan;
  readonly #arm: Plan;
  readonly #isSame = new Map<string, boolean>();

  constructor(control: Plan, arm: Plan) {
    this.#control = control;
    this.#arm = arm;
  }

  /** @returns whether control reads all that the arm reads */
  addReads(): boolean {
    const theirs = this.#control.levels.flatMap(({ features }) => features);
    // Both arms rank the candidates that control found.
    const found = new Map(this.#control.retrieval?.retrievers.map(({ step, outputs }) => [step.as, outputs]));
    for (const { step, outputs } of this.#arm.retrieval?.retrievers ?? [])
      for (const [output, slot] of outputs) this.#pair(slot, found.get(step.as)?.get(output));
    const nodes = this.#arm.nodes.map((node) => this.#addNode(node));
    const reads = this.#arm.levels
      .flatMap(({ features }) => features)
      .map((read) => this.#addRead(read, theirs));
    const histories = this.#arm.levels
      .flatMap((level) => level.histories)
      .map(({ index, of, type }) => {
        const same = this.#control.levels
          .flatMap((level) => level.histories)
          .find((one) => one.of === of && one.type === type);
        if (same !== undefined) this.histories.set(index, same.index);
        return same !== undefined;
      });
    return [...nodes, ...reads, ...histories].every(Boolean);
  }

  /** Adds a step with its outputs if both plans have it; false if they differ. */
  addStep(theirs: PlannedStep | undefined, own: PlannedStep | undefined): boolean {
    if (theirs === undefined || own === undefined || !this.#isSameStep(theirs, own)) return false;
    for (const [name, slot] of own.outputs) this.#pair(slot, theirs.outputs.get(name));
    const named = new Map(this.#control.definitions.map(({ name, slot }) => [name, slot]));
    for (const { name, slot } of this.#arm.definitions)
      if (this.#isSame.get(name) === true) this.#pair(slot, named.get(name));
    return true;
  }

  #isSameStep(theirs: PlannedStep, own: PlannedStep): boolean {
    const written = writtenStep(this.#control, theirs);
    return (
      written === writtenStep(this.#arm, own) &&
      written !== undefined &&
      theirs.version === own.version &&
      theirs.reads.join() === own.reads.join() &&
      [...own.needs].every(([name, { slot }]) => this.columns.get(slot) === theirs.needs.get(name)?.slot) &&
      [...own.reads, ...wordsOf(written)].every((name) => this.#isSameName(name))
    );
  }

  /** Whether a name that a step or a definition reads has the same value in both plans. */
  #isSameName(name: string): boolean {
    const known = this.#isSame.get(name);
    if (known !== undefined) return known;
    this.#isSame.set(name, true); // a definition does not use itself
    const same = this.#compare(name);
    this.#isSame.set(name, same);
    return same;
  }

  #compare(name: string): boolean {
    const [theirs, own] = [this.#control.definition, this.#arm.definition];
    const [param, definition] = [own.params.get(name), own.define.get(name)];
    if (param !== undefined) return theirs.params.get(name)?.value === param.value;
    if (definition !== undefined) {
      if (theirs.define.get(name)?.value !== definition.value) return false;
      return wordsOf(definition.value).every((word) => this.#isSameName(word));
    }
    if (theirs.params.has(name) || theirs.define.has(name)) return false;
    const slots = ({ layout }: Plan): number[] =>
      layout.columns.flatMap((column, slot) => (column.name === name ? [slot] : []));
    // A word that names no column is an entity, a function, or a value in quotes.
    return slots(this.#arm).every((slot) => name === 'score' || this.columns.has(slot));
  }

  #addNode(own: HydrationNode): boolean {
    const same = this.#control.nodes.find(
      ({ name, entity, scope, list }) =>
        name === own.name && entity === own.entity && scope === own.scope && list === own.list,
    );
    if (same === undefined) return false;
    this.#pair(own.ids, same.ids);
    const pairs = own.wants.map(({ path, indexed, slot }) =>
      this.#pair(
        slot,
        same.wants.find((want) => want.indexed === indexed && want.path.join('.') === path.join('.'))?.slot,
      ),
    );
    return pairs.every(Boolean);
  }

  #addRead(own: FeatureRead, reads: readonly FeatureRead[]): boolean {
    const pairs = own.wants.map(({ name, slot, feature }) => {
      const same = reads.find(
        ({ source, ids, wants }) =>
          source === own.source &&
          ids.length === own.ids.length &&
          own.ids.every((id, at) => this.columns.get(id) === ids[at]) &&
          wants.some((want) => want.name === name && want.feature.view === feature.view),
      );
      return this.#pair(slot, same?.wants.find((want) => want.name === name)?.slot);
    });
    return pairs.every(Boolean);
  }

  /** @returns whether the columns can be one */
  #pair(own: number, theirs: number | undefined): boolean {
    if (theirs === undefined) return false;
    const shape = ({ layout }: Plan, slot: number): string => JSON.stringify(layout.columns[slot]?.shape);
    if (shape(this.#arm, own) !== shape(this.#control, theirs)) return false;
    this.columns.set(own, theirs);
    return true;
  }
}

/** A step as its file says it; undefined if an alias in it refers to another place of the file. */
function writtenStep({ definition }: Plan, { number }: PlannedStep): string | undefined {
  const step = definition.components[number - 1];
  if (step === undefined) return undefined;
  const options = writtenOptions(step, definition.file.text);
  if (options === undefined) return undefined;
  const { use, as, when, top, onError } = step;
  return JSON.stringify([use.value, (as ?? use).value, when?.value, top?.value, onError, options]);
}

function writtenOptions({ with: options }: StepDefinition, text: string): string | undefined {
  if (!isNode(options) || !Array.isArray(options.range)) return options === undefined ? '' : undefined;
  const [start, end] = options.range;
  const written = text.slice(start, end);
  return /[*&]\w/.test(written) ? undefined : written;
}

/** All words of an expression, among them the names that it reads. */
function wordsOf(text: string): readonly string[] {
  return text.match(/[a-z][a-z0-9_]*(?:[.:][a-z][a-z0-9_]*)*/g) ?? [];
}
