import type { Node } from 'yaml';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { EntityType } from './model.js';
import type { SourceFile } from '../yaml/source.js';
import { entriesOf, entryOf, itemsOf, memberOf } from '../yaml/tree.js';

/** Fields of every answer that are not the pipeline's to name. */
const ANSWERED: ReadonlySet<string> = new Set(['score', 'events', 'ranked_candidates']);

/** Refuses, in a pipeline that scores one entity, what only a ranking has. */
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
      diagnostics.error('unknown_key', entry.keyAt, `\`${key}\` means nothing here`, why);
  };
  const one = `one \`${candidateType}\` is scored`;
  refuse(memberOf(file, root, 'limits'), 'candidates', `${one}: a request has no candidates`);
  refuse(
    memberOf(file, root, 'request'),
    'candidates',
    `${one}: attributes that only the request carries stand under \`${candidateType}:\``,
  );
  refuse(memberOf(file, root, 'request'), 'duplicates', `${one}: a request has no candidates`);
  for (const step of itemsOf(memberOf(file, root, 'components')))
    refuse(step, 'top', `${one}: there are no others that it could be the best of`);
  for (const { key, keyAt } of entriesOf(file, memberOf(file, root, 'answer')))
    if (ANSWERED.has(key) || key === type?.key)
      diagnostics.error(
        'reserved_name',
        keyAt,
        `\`${key}\` has a meaning of its own in every answer`,
        'choose another name',
      );
}
