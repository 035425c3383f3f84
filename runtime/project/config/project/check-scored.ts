import type { Node } from 'yaml';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { EntityType } from '../model/entities.js';
import type { SourceFile } from '../yaml/source.js';
import { entriesOf, entryOf, itemsOf, memberOf } from '../yaml/tree.js';

/** Fields that every answer contains, so a pipeline cannot use their names. */
const ANSWERED: ReadonlySet<string> = new Set(['score', 'events', 'ranked_candidates']);

/** Rejects, in a pipeline that scores one entity, everything that only a ranking can have. */
export function checkScored(
  file: SourceFile,
  root: Node,
  candidateType: string,
  type: EntityType | undefined,
  diagnostics: Diagnostics,
): void {
  const refuse = (holder: Node | undefined, key: string, why: string): void => {
    const entry = entryOf(file, holder, key);
    if (entry !== undefined)
      diagnostics.error('unknown_key', entry.keyAt, `\`${key}\` is not allowed here`, why);
  };
  const one = `the pipeline scores one \`${candidateType}\``;
  refuse(memberOf(file, root, 'limits'), 'candidates', `${one}: a request has no candidates`);
  refuse(
    memberOf(file, root, 'request'),
    'candidates',
    `${one}: declare attributes that only the request contains under \`${candidateType}:\``,
  );
  refuse(memberOf(file, root, 'request'), 'duplicates', `${one}: a request has no candidates`);
  for (const key of ['candidates', 'sample'])
    refuse(memberOf(file, root, 'log'), key, `${one}: a request has no candidates`);
  for (const step of itemsOf(memberOf(file, root, 'components')))
    refuse(step, 'top', `${one}: \`top\` needs several candidates`);
  for (const { key, keyAt } of entriesOf(file, memberOf(file, root, 'answer')))
    if (ANSWERED.has(key) || key === type?.key)
      diagnostics.error(
        'reserved_name',
        keyAt,
        `\`${key}\` already has a meaning in every answer`,
        'choose another name',
      );
}
