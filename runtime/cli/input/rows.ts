import { isUtf8 } from 'node:buffer';
import type { JsonObject } from '../../api/types.js';
import { CommandFailure } from '../failure.js';

/** One record of an input file. */
export interface InputRow {
  /** 1-based: the line of the file, or the position in a JSON list. */
  readonly line: number;
  readonly value: JsonObject;
  /** The record's own JSON, where the file is JSON: sent on unchanged, so that no digit is lost. */
  readonly json?: string;
  /** Size of the record in the file. */
  readonly bytes: number;
}

/** A record that cannot be loaded, and why. */
export interface BadRow {
  readonly line: number;
  readonly problem: string;
}

/** Records as they come off the file, some at a time. */
export interface RowChunk {
  readonly rows: readonly InputRow[];
  readonly bad: readonly BadRow[];
}

/** The file as a whole cannot be read on; what came before it counts. */
export class InputError extends CommandFailure {
  constructor(message: string, { help, ...options }: ErrorOptions & { readonly help?: string } = {}) {
    super(message, help, options);
    this.name = 'InputError';
  }
}

export const NOT_UTF8 = 'not encoded in UTF-8';

/** A text that is no record. */
interface NoRow {
  readonly problem: string;
  /** Whether it is no JSON at all, rather than JSON that is no object. */
  readonly isBroken: boolean;
}

/** Parses the JSON of one record. */
export function parseRow(bytes: Buffer, line: number): InputRow | NoRow {
  if (!isUtf8(bytes)) return { problem: NOT_UTF8, isBroken: true };
  return parseText(bytes.toString('utf8').trim(), line, bytes.length);
}

/**
 * Parses the JSON of one record.
 * @param bytes its size in the file
 */
export function parseText(json: string, line: number, bytes: number): InputRow | NoRow {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { problem: jsonProblem(error), isBroken: true };
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { line, value: value as JsonObject, json, bytes };
  }
  const found = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  return { problem: `expected a JSON object, found ${found}`, isBroken: false };
}

/** What V8 says of a text that is not JSON, without the excerpt of the text. */
export function jsonProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const reason = message.replace(/,? (\.\.\.)?".*$/s, '').replace(/ in JSON at position.*$/s, '');
  return `not JSON: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`;
}
