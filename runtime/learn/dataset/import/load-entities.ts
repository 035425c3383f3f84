import type { JsonObject } from '../../../ground/api/types.js';
import type { EntityType } from '../../../project/config/model/entities.js';
import type { ForeignEntity } from '../../../project/foreign/foreign-event.js';
import { fittedEntity } from '../../../project/foreign/fitted-entity.js';
import type { EntityIndex } from '../../../state/index/entity-index.js';
import { sendBatch } from '../../../state/index/send-batch.js';
import type { Rejects } from './rejects.js';

const BATCH = 250;

/**
 * Stores entities. Texts become what the project declares for their attributes. An entity whose type the project does not
 * declare is not stored.
 * @returns how many were stored, by type
 */
export async function storeEntities(
  entities: AsyncIterable<ForeignEntity>,
  types: ReadonlyMap<string, EntityType>,
  index: EntityIndex,
  rejects: Rejects,
): Promise<ReadonlyMap<string, number>> {
  const stored = new Map<string, number>();
  const waiting = new Map<string, JsonObject[]>();
  const send = async (type: string, batch: readonly JsonObject[]): Promise<void> => {
    const rows = batch.map((value, at) => ({ line: at, value, bytes: 0 }));
    const { loaded } = await sendBatch(
      rows,
      async (left) => {
        await index.upload({ entity_type: type, entities: left.map(({ value }) => value) });
        return { older: 0 };
      },
      ({ line, problem }) => {
        const row = batch[line];
        rejects.add({ file: '', line: 0, reason: 'bad_entity', detail: problem, ...(row && { row }) });
      },
    );
    stored.set(type, (stored.get(type) ?? 0) + loaded);
  };
  for await (const { type, id, values } of entities) {
    const declared = types.get(type);
    if (declared === undefined) {
      stored.set(type, stored.get(type) ?? 0);
      continue;
    }
    let batch = waiting.get(type);
    if (batch === undefined) waiting.set(type, (batch = []));
    batch.push(fittedEntity({ id, values }, declared));
    if (batch.length < BATCH) continue;
    waiting.delete(type);
    await send(type, batch);
  }
  for (const [type, batch] of waiting) await send(type, batch);
  return stored;
}
