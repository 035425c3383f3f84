import type { EntityType } from '../../project/config/model/entities.js';
import { inBackground } from '../../ground/core/background.js';
import { Violations } from '../../ground/core/violations.js';
import { packEntities } from '../../state/index/entity-batch.js';
import { entityLayout } from '../../state/index/entity-index.js';
import type { InputRow } from '../../project/rows/rows.js';
import type { Progress } from '../../ground/core/progress.js';
import { sendBatch } from '../../state/index/send-batch.js';
import type { DataTarget } from '../load/target.js';
import { fitEntity, type FittedEntity } from '../../state/wyvern/fit-entity.js';
import { note, type ImportCounts } from '../../state/wyvern/import-counts.js';
import { readOld, type OldEntity, type OldTypes } from '../../state/wyvern/old-record.js';
import type { OldPage, OldRedis } from '../../state/wyvern/old-redis.js';

export interface ImportParts {
  readonly old: Pick<OldRedis, 'page'>;
  readonly prefix: string;
  readonly types: OldTypes;
  readonly target: Pick<DataTarget, 'upload'>;
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

interface Found {
  readonly key: string;
  readonly read: OldEntity;
  readonly bytes: number;
}

type Waiting = Found & { readonly fitted: FittedEntity };

async function importPage({ keys, values }: OldPage, parts: ImportParts): Promise<void> {
  const { prefix, types, target, counts } = parts;
  const byType = new Map<EntityType, Found[]>();
  for (const [i, key] of keys.entries()) {
    counts.keys++;
    const value = values[i] ?? null;
    const read = readOld(key.slice(prefix.length), value, types);
    if ('reason' in read) {
      note((counts.skipped[read.reason] ??= { count: 0, keys: [] }), key, read.detail);
      continue;
    }
    const found = { key, read, bytes: value?.length ?? 0 };
    const list = byType.get(read.type);
    if (list === undefined) byType.set(read.type, [found]);
    else list.push(found);
  }
  for (const [type, list] of byType) {
    const layout = entityLayout(type);
    const waiting = list.map((found) => ({ ...found, fitted: fitEntity(found.read.entity, type, layout) }));
    const loaded = await send(type.name, waiting, target, counts);
    counts.imported[type.name] = (counts.imported[type.name] ?? 0) + loaded.length;
    for (const { key, read, fitted } of loaded) {
      if (read.isIdAdded) counts.added++;
      if (fitted.isConverted) counts.converted++;
      for (const problem of fitted.leftOut) note(counts.left_out, key, problem);
    }
  }
}

/** Returns the entities that the target took. */
async function send(
  type: string,
  waiting: readonly Waiting[],
  target: ImportParts['target'],
  counts: ImportCounts,
): Promise<readonly Waiting[]> {
  const rows = waiting.map(({ read, fitted: { entity }, bytes }, line): InputRow => {
    const isAsStored = entity === read.entity && read.json !== undefined;
    return { line, value: entity, bytes, ...(isAsStored ? { json: read.json } : {}) };
  });
  const refused = new Set<number>();
  await sendBatch(
    rows,
    async (some) => {
      await target.upload(type, undefined, some);
      return { older: 0 };
    },
    ({ line, problem }) => {
      refused.add(line);
      note(counts.refused, waiting[line]?.key ?? '', problem);
    },
  );
  return waiting.filter((_, line) => !refused.has(line));
}

/** A target that makes the checks of an upload, and stores nothing. */
export function checkingTarget(entities: ReadonlyMap<string, EntityType>): ImportParts['target'] {
  return {
    upload: async (name, _key, rows) => {
      const type = entities.get(name) as EntityType;
      const violations = new Violations();
      const batch = { ...type, layout: entityLayout(type), prefix: '', keyField: type.key, rule: type };
      const list = rows.map(({ value }) => value);
      const packed = await inBackground(
        packEntities(list, { ...batch, isLastOnly: true }, '/entities', violations),
      );
      violations.throwIfAny('The upload');
      return { entity_ids: packed.map(({ id }) => id) };
    },
  };
}
