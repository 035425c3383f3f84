import type { CounterDefinition } from '../../project/config/model/counters.js';
import { counterKey } from '../store/keys.js';
import type { CountedEvent } from './counted-kinds.js';

/** Most keys of one counter that an event changes: lists of references can have many elements. */
const MOST_KEYS = 64;

/** The values of a path such as `product.brand` for the entity that an event is about. */
export type FollowedValues = (path: string) => readonly string[];

/** The keys of the records of a counter that an event changes. There is none if the event lacks an entity of the key. */
export function keysOfEvent(
  { of, by }: CounterDefinition,
  { subject, owners }: CountedEvent,
  followed: FollowedValues,
  prefix: string,
): string[] {
  const [only] = by;
  // Most counters are of what the event is about.
  if (by.length === 1 && only?.length === 1 && only[0] === subject.type)
    return [counterKey(prefix, of, [subject.id])];
  let combinations: string[][] = [[]];
  for (const path of by) {
    const [root = ''] = path;
    const ids =
      path.length > 1
        ? subject.type === root
          ? followed(path.join('.'))
          : []
        : subject.type === root
          ? [subject.id]
          : owners.filter(({ type }) => type === root).map(({ id }) => id);
    combinations =
      by.length === 1
        ? ids.slice(0, MOST_KEYS).map((id) => [id])
        : combinations.flatMap((before) => ids.map((id) => [...before, id])).slice(0, MOST_KEYS);
  }
  const keys = combinations.map((ids) => counterKey(prefix, of, ids));
  return keys.length > 1 ? [...new Set(keys)] : keys;
}
