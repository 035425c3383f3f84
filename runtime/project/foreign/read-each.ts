import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import type { Arrival, EventOutput } from './foreign-event.js';
import { shown } from './read-values.js';

/**
 * Reads the events of a list that came in one row. Reasons name the place of an event in the list. An event without an id
 * is known by that place.
 * @param name what the row calls the list; empty if the row is the list itself
 */
export function readEach(
  list: readonly JsonValue[],
  name: string,
  output: EventOutput,
  arrival: Arrival | undefined,
  read: (row: JsonObject, output: EventOutput, arrival: Arrival | undefined) => void,
): void {
  if (list.length === 0) output.skip?.(`an empty ${name === '' ? 'list' : name}`);
  for (const [at, one] of list.entries()) {
    const place = `${name}[${at}]`;
    if (typeof one !== 'object' || one === null || Array.isArray(one)) {
      output.reject('unreadable', `${place}: expected an object, found ${shown(one)}`);
      continue;
    }
    read(
      one as JsonObject,
      {
        event: (event) => output.event(event),
        reject: (reason, detail) => output.reject(reason, `${place}: ${detail}`),
        skip: (what) => output.skip?.(what),
      },
      arrival && { time: arrival.time, id: `${arrival.id}${place}` },
    );
  }
}
