import type { JsonObject } from '../../ground/api/types.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { idText } from '../../ground/core/ids.js';
import type { DataTarget } from '../load/target.js';
import type { FindEntity, TextPath } from './text-path.js';

/**
 * Reads the entities that paths lead to. Of each it keeps the attributes that the paths read.
 * @throws MillraceError as `scanEntities`
 */
export async function readReferences(
  target: Pick<DataTarget, 'scanEntities'>,
  paths: readonly TextPath[],
  entities: ProjectConfig['entities'],
): Promise<FindEntity> {
  const wanted = new Map<string, Set<string>>();
  for (const [type, names] of paths.flatMap(({ references }) => [...references]))
    wanted.set(type, new Set([...(wanted.get(type) ?? []), ...names]));
  const found = new Map<string, ReadonlyMap<string, JsonObject>>();
  for (const [type, names] of wanted) {
    const key = entities.get(type)?.key ?? '';
    const kept = new Map<string, JsonObject>();
    let cursor: string | undefined;
    do {
      const page = await target.scanEntities(type, cursor);
      for (const record of page.records)
        kept.set(
          idText(record[key]) ?? '',
          Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name))),
        );
      ({ cursor } = page);
    } while (cursor !== undefined);
    found.set(type, kept);
  }
  return (type, id) => found.get(type)?.get(id);
}
