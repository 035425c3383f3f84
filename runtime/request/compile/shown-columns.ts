import type { FrameLayout, Scope } from '../../language/frame/frame-layout.js';
import type { AttributeColumn, HydrationNode, NamedColumn, Plan, PlannedStep } from './plan.js';

/** The attributes that the plan reads, each with the slot of the ids of its entity. */
export function attributesOf(nodes: readonly HydrationNode[]): AttributeColumn[] {
  return nodes.flatMap((node) => {
    // If a row holds several entities, their values are one list, shown as values of the entity that refers to them.
    let owner = node;
    while (owner.list && owner.parent !== undefined) owner = owner.parent.node;
    const of = {
      type: owner.entity.name,
      ids: owner.ids,
      scope: owner.scope,
      shared: owner.parent !== undefined,
    };
    const id = { name: `${node.name}.${node.entity.key}`, slot: node.ids, ...of };
    return [
      ...(node.isIdRead ? [id] : []),
      ...node.wants.map(({ path, slot }) => ({ name: `${node.name}.${path.join('.')}`, slot, ...of })),
    ];
  });
}

/** Columns with names first, then definitions, then the values that expressions of steps compute. */
export function shownColumns(
  layout: FrameLayout,
  definitions: readonly NamedColumn[],
  steps: readonly PlannedStep[],
): Plan['shown'] {
  const named = layout.columns.flatMap(({ name }, slot) =>
    name === undefined || name === 'score' ? [] : [{ name, slot }],
  );
  const computed = steps.flatMap(({ when, computes }) => [
    ...(when?.computes ? [when.computes] : []),
    ...computes,
  ]);
  const all = [...named, ...definitions, ...computed];
  const of = (scope: Scope): readonly NamedColumn[] =>
    Object.freeze(all.filter(({ slot }) => layout.columns[slot]?.shape.scope === scope));
  return Object.freeze({ request: of('request'), candidate: of('candidate') });
}
