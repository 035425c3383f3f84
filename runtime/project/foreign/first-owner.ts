import type { JsonObject } from '../../ground/api/types.js';
import type { EventOutput, Owners } from './foreign-event.js';
import { isMissing, readId } from './read-values.js';

/**
 * The user of an event: the first of these keys that the row has. So the id of a user who signed in comes before that of
 * the device. @returns no owner if the row has none of them; undefined if the id is not valid
 */
export function firstOwner(
  row: JsonObject,
  keys: readonly string[],
  output: EventOutput,
): Owners | undefined {
  const key = keys.find((one) => !isMissing(row[one]));
  if (key === undefined) return {};
  const id = readId(row[key], key, output);
  return id === undefined ? undefined : { user: id };
}
