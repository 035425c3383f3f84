import type { InputRow } from '../input/rows.js';
import type { Progress } from '../load/progress.js';
import { sendBatch } from '../../state/index/send-batch.js';
import type { DataTarget } from '../load/target.js';
import { note, type ImportCounts } from './import-counts.js';
import { readOld, type OldEntity, type OldTypes } from './old-record.js';
import type { OldPage, OldRedis } from './old-redis.js';

export interface ImportParts {
  readonly old: Pick<OldRedis, 'page'>;
  readonly prefix: string;
  readonly types: OldTypes;
  /** Undefined to count only. */
  readonly target: DataTarget | undefined;
  readonly counts: ImportCounts;
  readonly progress: Progress;
  /** Called after each page, with all of its entities stored. */
  readonly reached: (cursor: string) => Promise<void>;
}

/**
 * Imports one page of keys after the other. A key that a scan returns twice is written twice, which changes nothing.
 * @param cursor '0' to start
 * @throws CommandFailure if the old Redis cannot be read; MillraceError if the target cannot store
 */
export async function importEntities(parts: ImportParts, cursor: string): Promise<void> {
  const { old, prefix, counts, progress, reached } = parts;
  do {
    const page = await old.page(cursor, prefix);
    await importPage(page, parts);
    cursor = page.cursor;
    await reached(cursor);
    progress.update(counts.keys, counts.keys);
  } while (cursor !== '0');
}

async function importPage({ keys, values }: OldPage, parts: ImportParts): Promise<void> {
  const { prefix, types, target, counts } = parts;
  const byType = new Map<string, (OldEntity & { readonly key: string; readonly bytes: number })[]>();
  for (const [i, key] of keys.entries()) {
    counts.keys++;
    const value = values[i] ?? null;
    const read = readOld(key.slice(prefix.length), value, types);
    if ('reason' in read) {
      note((counts.skipped[read.reason] ??= { count: 0, keys: [] }), key, read.detail);
      continue;
    }
    if (read.json === undefined) counts.added++;
    const list = byType.get(read.type);
    const entity = { ...read, key, bytes: value?.length ?? 0 };
    if (list === undefined) byType.set(read.type, [entity]);
    else list.push(entity);
  }
  for (const [type, entities] of byType) {
    const loaded = target === undefined ? entities.length : await send(type, entities, target, counts);
    counts.imported[type] = (counts.imported[type] ?? 0) + loaded;
  }
}

async function send(
  type: string,
  entities: readonly (OldEntity & { readonly key: string; readonly bytes: number })[],
  target: DataTarget,
  counts: ImportCounts,
): Promise<number> {
  const rows = entities.map(({ entity, json, bytes }, line): InputRow => ({
    line,
    value: entity,
    bytes,
    ...(json === undefined ? {} : { json }),
  }));
  const { loaded } = await sendBatch(
    rows,
    async (some) => {
      await target.upload(type, undefined, some);
      return { older: 0 };
    },
    ({ line, problem }) => note(counts.refused, entities[line]?.key ?? '', problem),
  );
  return loaded;
}
