import type { ModelComponent } from '../../../ground/api/component.js';
import type { Plan, PlannedStep } from '../../compile/plan.js';
import type { BindingDescription, PlanDescription, PlannedWork } from '../types.js';

/** The compiled plan as data, for `millrace plan`. */
export function describePlan(plan: Plan): PlanDescription {
  const { reads, components } = workOf(plan);
  return {
    pipeline: plan.definition.name,
    route: plan.definition.route.value,
    [plan.definition.task]: plan.candidateType.name,
    ...(plan.definition.params.size === 0
      ? {}
      : {
          params: Object.fromEntries(
            Array.from(plan.definition.params.values(), ({ name, value, range }) => [
              name,
              { value, ...range },
            ]),
          ),
        }),
    ...(plan.retrieval === undefined ? {} : { retrieval: workOf(plan.retrieval.plan) }),
    reads,
    columns: plan.layout.columns.flatMap(({ shape, name }, slot) =>
      name === undefined ? [] : [{ slot, name, kind: shape.kind, scope: shape.scope }],
    ),
    components,
    ...(plan.definition.task === 'rank'
      ? {}
      : { answer: Object.fromEntries(plan.answer.values.map(({ name, text }) => [name, text])) }),
  };
}

/** What a plan, or the plan of its retrievers, reads and runs. */
function workOf(plan: Plan): PlannedWork {
  const names = new Map(plan.layout.columns.map((column, slot) => [slot, column.name ?? `scratch ${slot}`]));
  const tops = topsOfReads(plan);
  const of = (read: unknown): string => (tops.has(read) ? ` of the best ${tops.get(read) ?? ''}` : '');
  return {
    reads: plan.levels.flatMap((level, index) => [
      ...level.nodes.map((node) => ({
        level: index + 1,
        of: node.entity.name,
        what: `attributes of ${node.name}${of(node)}`,
        wants: node.wants.filter((want) => want.indexed).map((want) => want.path.join('.')),
      })),
      ...level.features.map((read) => ({
        level: index + 1,
        of: read.types.join(', ') || 'global',
        what: `features by ${read.ids.map((slot) => names.get(slot)).join(', ') || 'no key'}${of(read)}`,
        wants: read.wants.map((want) => want.name),
      })),
      ...level.histories.map((read) => ({
        level: index + 1,
        of: read.type,
        what: `feedback history of ${read.of}`,
        wants: [...new Set(read.wants.map((want) => `${want.type}s by ${want.name}`))],
      })),
    ]),
    components: plan.steps.map((step) => ({
      step: step.number,
      use: step.use,
      kind: step.kind,
      as: step.as,
      reads: step.reads,
      produces: [...step.outputs.keys()].map((output) => `${step.as}:${output}`),
      ...(step.version === undefined ? {} : { version: step.version }),
      ...(step.when === undefined ? {} : { when: step.when.text }),
      ...(step.top === undefined ? {} : { top: step.top }),
      ...(step.component.notes === undefined ? {} : { notes: step.component.notes }),
      ...bindingsOf(step, plan),
    })),
  };
}

/** By read that waits for steps with `top:`: the most candidates for which it is made. */
function topsOfReads({ phases, steps }: Plan): ReadonlyMap<unknown, number> {
  const tops = new Map<unknown, number>();
  for (const { number, top = 0 } of steps)
    for (const { levels } of phases?.steps.get(number)?.later ?? [])
      for (const read of levels.flatMap(({ nodes, features }) => [...nodes, ...features]))
        tops.set(read, Math.max(top, tops.get(read) ?? 0));
  return tops;
}

/** What the columns of a model read. */
function bindingsOf(
  { component }: PlannedStep,
  plan: Plan,
): { readonly bindings?: readonly BindingDescription[] } {
  const { bindings } = component as Partial<ModelComponent>;
  if (bindings === undefined) return {};
  const defaults = new Map(
    plan.levels.flatMap(({ features }) =>
      features.flatMap(({ wants }) =>
        wants.map(({ slot, feature }) => [slot, feature.feature.default] as const),
      ),
    ),
  );
  return {
    bindings: bindings.map(({ column, input, type, categories, missing }) => {
      const otherwise = defaults.get(input.slot) ?? missing;
      return {
        column,
        value: input.text,
        type: type === undefined ? input.kind : `${input.kind} as ${type}`,
        ...(categories === undefined ? {} : { categories }),
        ...(otherwise === undefined ? {} : { default: otherwise }),
      };
    }),
  };
}
