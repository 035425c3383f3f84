import { isUtf8 } from 'node:buffer';
import type { JsonObject } from '../../ground/api/types.js';
import { jsonProblem } from '../../ground/core/json-problem.js';
import { CommandFailure } from '../config/diagnostics/failure.js';

/** One record of an input file. */
export interface InputRow {
  /** 1-based: the line of the file, or the position in a JSON list. */
  readonly line: number;
  readonly value: JsonObject;
  /** The record's JSON text, if the file is JSON. It is sent unchanged, so that no digit is lost. */
  readonly json?: string;
  /** Size of the record in the file. */
  readonly bytes: number;
}

/** A record that cannot be loaded, and the reason. */
export interface BadRow {
  readonly line: number;
  readonly problem: string;
}

/** Consecutive records of a file. */
export interface RowChunk {
  readonly rows: readonly InputRow[];
  readonly bad: readonly BadRow[];
}

/** The rest of the file cannot be read. The rows before it are loaded. */
export class InputError extends CommandFailure {
  constructor(message: string, { help, ...options }: ErrorOptions & { readonly help?: string } = {}) {
    super(message, help, options);
    this.name = 'InputError';
  }
}

/** An error of a file that names the file, if it is about its content. */
export function inFile(name: string, error: unknown): unknown {
  if (!(error instanceof InputError)) return error;
  return new InputError(`${name}: ${error.message}`, {
    cause: error,
    ...(error.help === undefined ? {} : { help: error.help }),
  });
}

export const NOT_UTF8 = 'not encoded in UTF-8';
/** What to do with a table of a spreadsheet that is not. */
export const TO_UTF8 =
  'save it as "CSV UTF-8", or convert it: iconv -f WINDOWS-1252 -t UTF-8 FILE > utf8.csv';

/** A text that is not a record. */
interface NoRow {
  readonly problem: string;
  /** True if the text is not JSON; false if it is JSON but not an object. */
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
