import type { EntityIdentifier } from '../../../ground/api/identifiers.js';
import type { StoredFeature, StoreReader } from '../../../ground/api/services.js';
import type { JsonObject } from '../../../ground/api/types.js';
import type { EntityType } from '../../../project/config/model/entities.js';
import { abortable } from '../../../ground/core/abortable.js';
import type { EntityIndex } from '../../../state/index/entity-index.js';
import type { OnlineFeatures } from '../../../state/index/online-features.js';

/** What the reader reads from: the services of one generation. */
export interface ReaderSource {
  readonly entities: EntityIndex;
  readonly online: OnlineFeatures;
  readonly types: ReadonlyMap<string, EntityType>;
}

/** Reads the store for plugins. Components are created before the store is open. */
export class LateReader implements StoreReader {
  #source: ReaderSource | undefined;

  /** Called once, when the store is open. */
  bind(source: ReaderSource): void {
    this.#source = source;
  }

  async entities(
    type: string,
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, JsonObject | null>> {
    const { entities } = this.#open();
    const asked = entities.get({ entity_type: type, entity_ids: ids });
    const { entities: found } = await abortable(asked, signal);
    return new Map(ids.map((id) => [id, found[id] ?? null]));
  }

  async features(
    feature: string,
    keys: readonly (EntityIdentifier | readonly EntityIdentifier[])[],
    signal: AbortSignal,
  ): Promise<readonly StoredFeature[]> {
    const { online, types } = this.#open();
    if (keys.length === 0) return [];
    const lists = new Map<string, string[]>();
    for (const key of keys)
      for (const { type, id } of Array.isArray(key)
        ? (key as readonly EntityIdentifier[])
        : [key as EntityIdentifier]) {
        const name = types.get(type)?.key ?? type;
        lists.set(name, [...(lists.get(name) ?? []), id]);
      }
    const asked = online.read({ features: [feature], entities: Object.fromEntries(lists) });
    const { answer } = await abortable(asked, signal);
    const column = answer.toJSON().results.at(-1);
    return keys.map((_, row) => {
      const status = column?.statuses[row] ?? 'NOT_FOUND';
      const value = column?.values[row] ?? null;
      return { value: value === null ? undefined : value, status };
    });
  }

  #open(): ReaderSource {
    if (this.#source !== undefined) return this.#source;
    throw new Error('the store is not open while the project is loaded: read it while a request runs');
  }
}
