import type { EntityType } from '../model/entities.js';
import type { Section } from '../yaml/section.js';
import type { Entry } from '../yaml/tree.js';

/** Fields that every answer contains, so a pipeline cannot use their names. */
const ANSWERED: ReadonlySet<string> = new Set(['score', 'events', 'ranked_candidates']);

/** Rejects, in a pipeline that scores one entity, everything that only a ranking can have. */
export function checkScored(
  pipeline: Section<'pipeline'>,
  candidateType: string,
  type: EntityType | undefined,
): void {
  const { diagnostics } = pipeline;
  const refuse = (entry: Entry | undefined, why: string): void => {
    if (entry !== undefined)
      diagnostics.error('unknown_key', entry.keyAt, `\`${entry.key}\` is not allowed here`, why);
  };
  const one = `the pipeline scores one \`${candidateType}\``;
  const [request, log] = [pipeline.section('request'), pipeline.section('log')];
  refuse(pipeline.section('limits').entry('candidates'), `${one}: a request has no candidates`);
  refuse(
    request.entry('candidates'),
    `${one}: declare attributes that only the request contains under \`${candidateType}:\``,
  );
  for (const entry of [request.entry('duplicates'), log.entry('candidates'), log.entry('sample')])
    refuse(entry, `${one}: a request has no candidates`);
  for (const step of pipeline.items('components'))
    refuse(pipeline.of('pipeline.components', step).entry('top'), `${one}: \`top\` needs several candidates`);
  for (const { key, keyAt } of pipeline.entries('answer'))
    if (ANSWERED.has(key) || key === type?.key)
      diagnostics.error(
        'reserved_name',
        keyAt,
        `\`${key}\` already has a meaning in every answer`,
        'choose another name',
      );
}
