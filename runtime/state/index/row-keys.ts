import type { EntityType } from '../../project/config/model/entities.js';
import type { FeatureView } from '../../project/config/model/views.js';

/**
 * The fields of a row that hold the ids of its view's entities, in the order of the view: the key of each entity type,
 * e.g. `user_id` and `brand_id`. A repeated name gets a number: the fields of (user, user) are `user_id` and
 * `user_id_2`.
 */
export function rowKeys(view: FeatureView, types: ReadonlyMap<string, EntityType>): readonly string[] {
  const seen = new Map<string, number>();
  return view.of.map((type) => {
    const key = types.get(type)?.key ?? `${type}_id`;
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return count === 1 ? key : `${key}_${count}`;
  });
}

/** The field of a row that holds its event time. */
export const EVENT_TIME = 'event_time';
