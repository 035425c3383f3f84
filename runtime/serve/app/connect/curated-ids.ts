import { entityKey } from '../../../state/store/keys.js';
import type { Store } from '../../../state/store/store.js';
import type { CompiledProject } from '../project/compile-project.js';

/** The ids that the file of a list names, and the types of candidates that its pipelines rank. */
export interface CuratedIds {
  readonly path: string;
  readonly types: readonly string[];
  readonly ids: readonly string[];
}

const READ_AT_ONCE = 1000;
const MOST_SHOWN = 5;

export function curatedIdsOf({ curation, pipelines }: CompiledProject): CuratedIds[] {
  return curation.states().map(({ name, path, rules }) => {
    const applied = new Set(curation.pipelinesOf(name));
    const types = pipelines.flatMap((one) => (applied.has(one.name) ? [one.plan.candidateType.name] : []));
    const ids = rules.file.flatMap(({ pins, hides }) => [
      ...pins.map(({ id }) => id.value),
      ...hides.map(({ value }) => value),
    ]);
    return { path, types: [...new Set(types)], ids: [...new Set(ids)] };
  });
}

/** Says which ids the store does not hold. @returns undefined if it holds all */
export async function unknownCuratedIds(
  store: Pick<Store, 'read'>,
  prefix: string,
  lists: readonly CuratedIds[],
): Promise<string | undefined> {
  const found: string[] = [];
  for (const { path, types, ids } of lists) {
    if (types.length === 0) continue;
    const unknown = new Set(ids);
    for (const type of types)
      for (let first = 0; first < ids.length; first += READ_AT_ONCE) {
        const some = ids.slice(first, first + READ_AT_ONCE);
        const records = await store.read(some.map((id) => entityKey(prefix, type, id)));
        for (const [at, id] of some.entries()) if (records[at] !== null) unknown.delete(id);
      }
    if (unknown.size === 0) continue;
    const shown = [...unknown].slice(0, MOST_SHOWN).map((id) => `\`${id}\``);
    const more = unknown.size > MOST_SHOWN ? ` and ${unknown.size - MOST_SHOWN} more` : '';
    found.push(`${path} names ids that the index does not hold: ${shown.join(', ')}${more}`);
  }
  return found.length === 0 ? undefined : found.join('; ');
}
