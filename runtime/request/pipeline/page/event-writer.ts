import type { JsonObject } from '../../../ground/api/types.js';
import type { Column } from '../../../ground/api/columns.js';
import { DEFAULTED, defaultedCause, isKnown, statusName, statusAt } from '../../../ground/api/status.js';
import { JsonWriter, type JsonText } from '../../../ground/core/json-writer.js';
import { columnValue } from '../../../ground/sdk/column-value.js';
import type { EventType } from '../../../ground/core/event-types.js';

/** Writes a list of events as text. The common start of all events of a type is encoded once. */
export class EventWriter {
  readonly #writer = new JsonWriter();
  readonly #envelope: string;
  readonly #heads = new Map<EventType, string>();
  #isEmpty = true;

  /** @param envelope the fields at the start of every event */
  constructor(envelope: JsonObject) {
    this.#envelope = JSON.stringify(envelope).slice(0, -1);
  }

  /** @param data the members of `event_data`, as JSON */
  add(type: EventType, data: string): void {
    let head = this.#heads.get(type);
    if (head === undefined) {
      head = `,${this.#envelope},"event_type":"${type}","event_data":{`;
      this.#heads.set(type, head);
    }
    this.#writer.write(`${this.#isEmpty ? `[${head.slice(1)}` : head}${data}}}`);
    this.#isEmpty = false;
  }

  end(): JsonText<readonly JsonObject[]> {
    this.#writer.write(this.#isEmpty ? '[]' : ']');
    return this.#writer.end();
  }
}

/** A number as JSON; null if it is not finite. */
export function numberText(value: number): string {
  return Number.isFinite(value) ? String(value) : 'null';
}

/** By name of the status field: the JSON of the status and its cause, for each status byte. */
const statusTexts = new Map<string, readonly string[]>();

function statusTextsOf(field: string): readonly string[] {
  let texts = statusTexts.get(field);
  if (texts === undefined) {
    texts = Array.from({ length: 2 * DEFAULTED }, (_, byte) => {
      const cause = defaultedCause(byte);
      return `,"${field}":"${statusName(byte)}"${cause === undefined ? '' : `,"${field}_cause":"${cause}"`}`;
    });
    statusTexts.set(field, texts);
  }
  return texts;
}

/**
 * The cells of a column as members of `event_data`: the value (null if unknown), its status, and the cause of a
 * default. The content is the same as that of `readCell`.
 * @param show returns the JSON of a known value; by default the value as it is
 */
export function cellTexts(
  column: Column,
  valueField: string,
  statusField: string,
  show?: (value: ReturnType<typeof columnValue>) => string,
): (row: number) => string {
  const statuses = statusTextsOf(statusField);
  const head = `"${valueField}":`;
  const { status, stride } = column;
  const text =
    column.kind === 'number'
      ? (at: number) => numberText(column.values[at] as number)
      : (at: number) => JSON.stringify(columnValue(column, at) ?? null);
  const shown = show === undefined ? text : (at: number) => show(columnValue(column, at));
  return (row) => {
    const at = row * stride;
    const byte = statusAt(status, at);
    return `${head}${isKnown(byte) ? shown(at) : 'null'}${statuses[byte] ?? ''}`;
  };
}
