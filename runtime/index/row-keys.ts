import type { EntityType, FeatureView } from '../config/project/model.js';

/**
 * The fields of a row that hold the ids of its view's entities, in the view's order: the key of each entity type, e.g.
 * `user_id` and `brand_id`. A name that comes again gets a number: of (user, user), `user_id` and `user_id_2`.
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

/** The field of a row that says when its values were true. */
export const EVENT_TIME = 'event_time';
