import type { JsonObject } from '../../../ground/api/types.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { idText } from '../../../ground/core/ids.js';
import { readBody } from '../../../ground/core/body-fields.js';
import { inTurns, type Pieces } from '../../../ground/core/pieces.js';
import { own } from '../../../ground/core/value-fit.js';
import type { EntityType } from '../../../project/config/model/entities.js';
import { TYPE_BODY, unknownEntityType } from '../entity-index.js';
import { entityKey } from '../../store/keys.js';
import { tracedStore } from '../../store/around.js';
import type { TraceSpan } from '../../../project/tracing/trace-span.js';
import type { StoreParts } from '../store-parts.js';
import { readEntity, resolveLayouts } from '../stored-entity.js';
import { PAGE_BODY, scanPage, type ScanPage } from './scan-request.js';

export const ENTITY_SCAN_BODY = { ...TYPE_BODY, ...PAGE_BODY };

/**
 * Lists the entities of a type, page by page. An entity that exists during the whole scan is returned at least once. An
 * entity that is written or deleted during the scan may or may not be returned.
 */
export class EntityScan {
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  /**
   * Body `{entity_type, cursor?, limit?}`. Entities have the form that `get` returns. `changed` counts entities that
   * carry a different id under the key of their type; the page contains the id under which they are stored.
   * @throws MillraceError invalid_body, unknown_entity_type, store_unavailable
   */
  async page(body: unknown, span?: TraceSpan): Promise<ScanPage> {
    const store = tracedStore(this.#parts.store, span);
    const { layouts, prefix, types } = this.#parts;
    const sent = readBody(body, ENTITY_SCAN_BODY, 'The request');
    const type = types.get(sent.entity_type);
    if (type === undefined) throw unknownEntityType(sent.entity_type, types.keys());
    const start = entityKey(prefix, type.name, '');
    const { keys, cursor } = await scanPage(store, start, sent);
    const records = await store.read(keys);
    await resolveLayouts(layouts, records);
    const ids = keys.map((key) => key.slice(start.length));
    const page = await inTurns(this.#decodeAll(ids, records, type));
    return { ...page, cursor: cursor ?? null };
  }

  *#decodeAll(
    ids: readonly string[],
    records: readonly (Buffer | null)[],
    type: EntityType,
  ): Pieces<Omit<ScanPage, 'cursor'>> {
    const entities: JsonObject[] = [];
    const unreadable: string[] = [];
    let changed = 0;
    for (const [i, id] of ids.entries()) {
      const record = records[i] ?? null;
      if (record === null) continue; // deleted since the keys were listed
      try {
        const entity = readEntity(record, this.#parts.layouts, type, id);
        if (idText(own(entity, type.key)) === id) entities.push(entity);
        else {
          changed++;
          entities.push({ ...entity, [type.key]: id });
        }
      } catch (error) {
        if (!(error instanceof MillraceError)) throw error;
        unreadable.push(id);
      }
      yield;
    }
    return { records: entities, unreadable, changed };
  }
}
