import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { CounterDefinition } from '../model/counters.js';
import type { EntityType } from '../model/entities.js';
import type { PipelineDefinition } from '../model/pipelines.js';

/**
 * Warns of counters that follow an attribute of an entity that events belong to, such as `user.home`: only attributes of
 * the entity that an event is about are followed, so such a counter counts nothing.
 */
export function warnOfUnfollowed(
  counters: ReadonlyMap<string, CounterDefinition>,
  pipelines: readonly Pick<PipelineDefinition, 'candidateType' | 'request'>[],
  entities: ReadonlyMap<string, EntityType>,
  diagnostics: Diagnostics,
): void {
  const ranked = new Set(pipelines.map(({ candidateType }) => candidateType.value));
  const owners = new Set(
    pipelines.flatMap(({ request }) =>
      [...request.fields.values()].flatMap((field) => (field.kind === 'entity' ? [field.entity] : [])),
    ),
  );
  for (const { by, of, at } of counters.values())
    for (const [i, path] of by.entries()) {
      const [root = '', attribute = ''] = path;
      // An attribute that does not exist is an error.
      if (entities.get(root)?.attributes.has(attribute) !== true) continue;
      if (ranked.has(root) || !owners.has(root)) continue;
      diagnostics.warning(
        'unreached',
        at,
        `no event is counted by \`${path.join('.')}\`: feedback is about ${[...ranked].join(', ')}, and belongs to \`${root}\``,
        `count by \`${root}\`; or send the \`${of[i] ?? ''}\` beside the \`${root}\` of the feedback, and write \`by: [${of[i] ?? ''}]\``,
      );
    }
}
