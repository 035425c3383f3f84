import { isUtf8 } from 'node:buffer';
import type { SourceMessage } from '../api/source.js';
import type { JsonObject } from '../api/types.js';
import { jsonProblem } from '../core/json-problem.js';
import { enrichedRow } from '../dataset/import/snowplow.js';

/** The largest content that is read, in bytes: as much as Kafka takes by default. Reading it blocks other requests. */
export const MOST_CONTENT = 2 ** 20;

/** The content of a message. */
export type MessageContent =
  | { readonly is: 'row'; readonly value: JsonObject; readonly json: string }
  | { readonly is: 'nothing' }
  | { readonly is: 'unreadable'; readonly problem: string };

/**
 * Reads the content of a message as a JSON object.
 * @param takesLines whether it can be a line of Snowplow's enriched stream
 */
export function readMessage(
  { content, problem }: Pick<SourceMessage, 'content' | 'problem'>,
  takesLines: boolean,
): MessageContent {
  if (problem !== undefined) return { is: 'unreadable', problem };
  if (content === undefined) return { is: 'nothing' };
  if (content.length > MOST_CONTENT)
    return { is: 'unreadable', problem: `expected at most ${MOST_CONTENT} bytes, found ${content.length}` };
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (!isUtf8(bytes)) return { is: 'unreadable', problem: 'not encoded in UTF-8' };
  const json = bytes.toString('utf8').trim();
  if (takesLines && !json.startsWith('{')) {
    const value = enrichedRow(bytes.toString('utf8'));
    return value === undefined
      ? { is: 'unreadable', problem: 'neither JSON nor a line of enriched events with 131 columns' }
      : { is: 'row', value, json: JSON.stringify(value) };
  }
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { is: 'unreadable', problem: jsonProblem(error) };
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return { is: 'row', value: value as JsonObject, json };
  const found = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  return { is: 'unreadable', problem: `expected a JSON object, found ${found}` };
}
