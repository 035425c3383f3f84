import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { FeatureDefinition, FeatureView } from '../../project/config/model/views.js';
import type { FeatureRequirement, PipelineDefinition } from '../../project/config/model/pipelines.js';
import { didYouMean } from '../../ground/core/nearest.js';
import { sourceKey } from '../../state/index/feature-source.js';
import { CounterDecoder } from '../../state/counters/counter-decoder.js';
import type { FrameLayout, Scope } from '../../language/frame/frame-layout.js';
import { FeatureDecoder } from '../../state/store/codec/feature-decoder.js';
import { bindArguments } from './binding-arguments.js';
import { FAILED_ELSEWHERE, type NameProblem, type Source } from '../../language/expression/environment.js';
import type { HydrationBuilder, ResolvedPath } from './hydration-builder.js';
import type { FeatureRead, NeededFeature } from './plan.js';
import { columnShape, expressionType } from './value-types.js';

/** A view with the entities of the request that make up its key. */
interface Binding {
  readonly name: string;
  readonly view: FeatureView;
  readonly args: readonly ResolvedPath[];
  readonly scope: Scope;
  /** The lines of `features:` that require it. */
  readonly requirements: FeatureRequirement[];
  readonly used: Map<string, { readonly feature: FeatureDefinition; readonly slot: number }>;
}

/** The features that `features:` requires, and the ones among them that are used. */
export class FeatureBindings {
  readonly #bindings = new Map<string, Binding>();
  /** Names whose requirement is wrong. The error is reported there, and not at each use. */
  readonly #failed = new Set<string>();
  readonly #views: ReadonlyMap<string, FeatureView>;
  readonly #hydration: HydrationBuilder;
  readonly #layout: FrameLayout;

  constructor(
    definition: PipelineDefinition,
    views: ReadonlyMap<string, FeatureView>,
    hydration: HydrationBuilder,
    layout: FrameLayout,
    diagnostics: Diagnostics,
  ) {
    this.#views = views;
    this.#hydration = hydration;
    this.#layout = layout;
    for (const requirement of definition.features) {
      if (!this.#bind(requirement, diagnostics)) this.#failed.add(requirement.name.value);
    }
  }

  get names(): Iterable<string> {
    return this.#bindings.keys();
  }

  has(name: string): boolean {
    return this.#bindings.has(name);
  }

  /** The full names of the features that the pipeline requires. */
  *features(): Iterable<string> {
    for (const { name, view, requirements } of this.#bindings.values())
      for (const feature of view.features.keys())
        if (requirements.some((line) => line.feature === undefined || line.feature.value === feature))
          yield `${name}:${feature}`;
  }

  /** The full names of the features of all views that the project has and the pipeline does not require. */
  unrequired(): string[] {
    const views = [...this.#views.values()].filter(({ name }) => !this.#bindings.has(name));
    return views.flatMap(({ name, features }) => [...features.keys()].map((feature) => `${name}:${feature}`));
  }

  /** @returns false if the requirement has an error, which is reported */
  #bind(requirement: FeatureRequirement, diagnostics: Diagnostics): boolean {
    const { name, feature } = requirement;
    const view = this.#views.get(requirement.view.value);
    if (view === undefined) {
      diagnostics.error(
        'unknown_view',
        requirement.view.at,
        `there is no feature view \`${requirement.view.value}\``,
        // `- stats: ctr` binds a view called ctr.
        this.#views.get(name.value)?.features.has(requirement.view.value) === true
          ? `write \`${name.value}:${requirement.view.value}\`, without the space`
          : (didYouMean(requirement.view.value, this.#views.keys()) ?? 'declare it in schemas/features'),
      );
      return false;
    }
    if (feature !== undefined && !view.features.has(feature.value)) {
      const { message, help } = this.#unknownFeature(view.name, view, feature.value);
      diagnostics.error('unknown_feature', feature.at, message, help);
      return false;
    }
    const known = this.#bindings.get(name.value);
    if (known !== undefined) {
      known.requirements.push(requirement);
      return true;
    }
    const args = bindArguments(view, requirement, this.#hydration, diagnostics);
    if (args === undefined) return false;
    const scope = args.some((arg) => arg.root.scope === 'candidate') ? 'candidate' : 'request';
    this.#bindings.set(name.value, {
      name: name.value,
      view,
      args,
      scope,
      requirements: [requirement],
      used: new Map(),
    });
    return true;
  }

  /** `name:feature` as a source of an expression; undefined if no view is bound to the name. */
  source(name: string, feature: string, read: boolean): Source | NameProblem | undefined {
    const binding = this.#bindings.get(name);
    if (binding === undefined) {
      if (this.#failed.has(name)) return { problem: 'unknown_view', message: FAILED_ELSEWHERE };
      if (!this.#views.has(name)) return undefined;
      return {
        problem: 'view_not_required',
        message: `feature view \`${name}\` is used but not required`,
        help: `add \`- ${name}\` under \`features:\``,
      };
    }
    const definition = binding.view.features.get(feature);
    if (definition === undefined) return this.#unknownFeature(name, binding.view, feature);
    const allowed = binding.requirements.some(
      (line) => line.feature === undefined || line.feature.value === feature,
    );
    if (!allowed) {
      return {
        problem: 'view_not_required',
        message: `\`${name}:${feature}\` is used but not required`,
        help: `add \`- ${name}:${feature}\` under \`features:\``,
      };
    }
    const type = expressionType(definition.type, false);
    const shape = columnShape(definition.type, false, binding.scope);
    if (type === undefined || shape === undefined) throw new Error(`no column can hold ${name}:${feature}`);
    if (!read) return { type, scope: binding.scope, slot: 0 };
    let used = binding.used.get(feature);
    if (used === undefined) {
      // What a private reference leads to is private, too.
      const isPrivate =
        definition.isPrivate === true || binding.args.some((arg) => this.#hydration.isPrivate(arg));
      used = { feature: definition, slot: this.#layout.add(shape, `${name}:${feature}`, { isPrivate }) };
      binding.used.set(feature, used);
    }
    return { type, scope: binding.scope, slot: used.slot };
  }

  /** How `getFeature` finds the row of an identifier. */
  needed(name: string, slot: number): NeededFeature | undefined {
    const binding = this.#bindings.get(name);
    if (binding === undefined) return undefined;
    const ids = binding.args.map((arg) => this.#hydration.want(arg).slot);
    return { slot, scope: binding.scope, types: binding.view.of, ids };
  }

  #unknownFeature(name: string, view: FeatureView, feature: string): NameProblem & { readonly help: string } {
    return {
      problem: 'unknown_feature',
      message: `view \`${view.name}\` has no feature \`${feature}\``,
      help:
        didYouMean(feature, view.features.keys(), (guess) => `\`${name}:${guess}\``) ??
        `it has ${[...view.features.keys()].join(', ')}`,
    };
  }

  /** Warns of features that are required and never used. @param others of what else may use them */
  warnOfUnused(diagnostics: Diagnostics, others?: FeatureBindings): void {
    for (const [key, { requirements, used: own, name }] of this.#bindings) {
      const other = others === undefined ? undefined : others.#bindings.get(key);
      const used = new Set([...own.keys(), ...(other?.used.keys() ?? [])]);
      for (const { feature, at } of requirements) {
        const isUsed = feature === undefined ? used.size > 0 : used.has(feature.value);
        if (isUsed) continue;
        const label = feature === undefined ? name : `${name}:${feature.value}`;
        diagnostics.warning(
          'unused_feature',
          at,
          `\`${label}\` is required and never used`,
          'remove the line, or use it',
        );
      }
    }
  }

  /** The finished reads. Views that share a key share a read. */
  build(): FeatureRead[] {
    const reads = new Map<string, { ids: number[]; level: number; list: Binding[] }>();
    for (const binding of this.#bindings.values()) {
      if (binding.used.size === 0) continue;
      const args = binding.args.map((arg) => this.#hydration.want(arg));
      const ids = args.map((arg) => arg.slot);
      const key = JSON.stringify([sourceKey(binding.view) ?? null, binding.view.group, binding.view.of, ids]);
      const read = reads.get(key) ?? { ids, level: Math.max(0, ...args.map((arg) => arg.known)), list: [] };
      read.list.push(binding);
      reads.set(key, read);
    }
    const all = [...reads.values()];
    return all.map(({ ids, level, list }) => {
      const wants = list.flatMap((binding) =>
        [...binding.used.values()].map(({ feature, slot }) => ({
          view: binding.view,
          feature,
          slot,
          name: `${binding.name}:${feature.name}`,
        })),
      );
      const [first] = list;
      if (first === undefined) throw new Error('a read has a binding');
      const { group: keyGroup, of: types } = first.view;
      const source = sourceKey(first.view);
      const sharesKeys = all.some(
        ({ list: [other] }) =>
          other !== first && other?.view.group === keyGroup && other.view.of.join() === types.join(),
      );
      return Object.freeze({
        name: list.map((binding) => binding.name).join(', '),
        scope: first.scope,
        level,
        ids: Object.freeze(ids),
        types,
        keyGroup,
        ...(source === undefined ? {} : { source }),
        distinct: ids.length === 1 && ids[0] === this.#hydration.candidates.ids && !sharesKeys,
        group: this.#layout.group(wants.map((want) => want.slot)),
        wants: Object.freeze(
          wants.map(({ name, slot, view, feature }) => ({ name, slot, feature: { view, feature } })),
        ),
        decoder: new FeatureDecoder(wants),
        ...countersOf(wants),
      });
    });
  }
}

/** The decoder of counters; nothing for views. */
function countersOf(
  wants: readonly { readonly view: FeatureView; readonly feature: FeatureDefinition }[],
): Pick<FeatureRead, 'counters'> {
  const counts = wants.flatMap(({ view: { counter }, feature: { name } }) => {
    const feature = counter?.features.get(name);
    return counter === undefined || feature === undefined ? [] : [{ counter, feature }];
  });
  return counts.length === 0 ? {} : { counters: new CounterDecoder(counts) };
}
