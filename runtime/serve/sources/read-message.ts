import { isJsonObject } from '../../ground/core/value-fit.js';
import { isUtf8 } from 'node:buffer';
import type { SourceMessage } from '../../ground/api/source.js';
import type { JsonObject } from '../../ground/api/types.js';
import { jsonProblem } from '../../ground/core/json-problem.js';
import { MOST_NESTING, nestsDeeper } from '../../ground/core/parse-json.js';
import { enrichedRow } from '../../project/foreign/snowplow.js';
import type { MappedSource } from './intake.js';

/** The largest content that is read, in bytes: as much as Kafka takes by default. Reading it blocks other requests. */
export const MOST_CONTENT = 2 ** 20;

/** The content of a message. */
export type MessageContent =
  | {
      readonly is: 'rows';
      /** The events of the message; without a map there is one. */
      readonly values: readonly JsonObject[];
      /** The JSON text, if there is one. */
      readonly json: string;
    }
  | { readonly is: 'nothing' }
  | { readonly is: 'unreadable'; readonly problem: string };

/**
 * Reads the content of a message as a JSON object. With a map, it can also be a list of objects, or lines with an object
 * each; with Snowplow's, also a line of the enriched stream.
 */
export function readMessage(
  { content, problem }: Pick<SourceMessage, 'content' | 'problem'>,
  map: MappedSource['map'],
): MessageContent {
  if (problem !== undefined) return { is: 'unreadable', problem };
  if (content === undefined) return { is: 'nothing' };
  if (content.length > MOST_CONTENT)
    return { is: 'unreadable', problem: `expected at most ${MOST_CONTENT} bytes, found ${content.length}` };
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (!isUtf8(bytes)) return { is: 'unreadable', problem: 'not encoded in UTF-8' };
  const json = bytes.toString('utf8').trim();
  if (map === 'snowplow' && !/^[{[]/.test(json)) {
    const value = enrichedRow(bytes.toString('utf8'));
    return value === undefined
      ? { is: 'unreadable', problem: 'neither JSON nor a line of enriched events with 131 columns' }
      : { is: 'rows', values: [value], json: JSON.stringify(value) };
  }
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    const lines = map === undefined ? undefined : objectsIn(json);
    if (lines === undefined) return { is: 'unreadable', problem: jsonProblem(error) };
    return nestsDeeper(json) ? TOO_DEEP : { is: 'rows', values: lines, json };
  }
  if (nestsDeeper(json)) return TOO_DEEP;
  if (isJsonObject(value)) return { is: 'rows', values: [value], json };
  if (map === undefined || !Array.isArray(value))
    return { is: 'unreadable', problem: `expected a JSON object, found ${nameOf(value)}` };
  if (value.length === 0) return { is: 'nothing' };
  const values = value as readonly unknown[];
  const wrong = values.findIndex((one) => !isJsonObject(one));
  return wrong === -1
    ? { is: 'rows', values: values as readonly JsonObject[], json }
    : { is: 'unreadable', problem: `[${wrong}]: expected a JSON object, found ${nameOf(values[wrong])}` };
}

/** Code that walks such a value overflows the stack, so the message could never be stored. */
const TOO_DEEP: MessageContent = {
  is: 'unreadable',
  problem: `lists and objects nest deeper than ${MOST_NESTING} levels`,
};

/** The objects of lines that hold one each; undefined if a line does not. */
function objectsIn(text: string): readonly JsonObject[] | undefined {
  const objects: JsonObject[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    try {
      const one: unknown = JSON.parse(line);
      if (!isJsonObject(one)) return undefined;
      objects.push(one);
    } catch {
      return undefined;
    }
  }
  return objects;
}

function nameOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
