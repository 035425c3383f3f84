import { murmur3 } from '../../../ground/core/murmur3.js';

/**
 * Field names of the hash that Feast stores for an entity. A feature's field is the MurmurHash3 of `view:feature`, as
 * four bytes, little-endian. The field `_ts:<view>` contains the event time of the view's row. Source: Feast's Redis
 * online store, `_mmh3` of feast.infra.online_stores.helpers.
 */

export function featureField(view: string, feature: string): Buffer {
  const field = Buffer.alloc(4);
  field.writeUInt32LE(murmur3(Buffer.from(`${view}:${feature}`)));
  return field;
}

export function timeField(view: string): Buffer {
  return Buffer.from(`_ts:${view}`);
}

/** A feature with the names that Feast uses. */
export interface FeatureName {
  readonly view: string;
  readonly feature: string;
}

/**
 * Finds features that Feast stores in the same field. Each of them then reads the value that was written last. Feast
 * itself does not detect this.
 */
export function collidingFeatures<T extends FeatureName>(features: Iterable<T>): (readonly [T, T])[] {
  const byField = new Map<string, T>();
  const colliding: (readonly [T, T])[] = [];
  for (const one of features) {
    const field = featureField(one.view, one.feature).toString('hex');
    const other = byField.get(field);
    if (other === undefined) byField.set(field, one);
    else if (other.view !== one.view || other.feature !== one.feature) colliding.push([other, one]);
  }
  return colliding;
}
