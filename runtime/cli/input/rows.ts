import type { JsonObject } from '../../api/types.js';
import { CommandFailure } from '../failure.js';

/** One record of an input file. */
export interface InputRow {
  /** 1-based: the line of the file, or the position in a JSON list. */
  readonly line: number;
  readonly value: JsonObject;
  /** The record's own JSON, where the file is JSON lines: sent on unchanged, so that no digit is lost. */
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
  constructor(message: string, options?: ErrorOptions) {
    super(message, undefined, options);
    this.name = 'InputError';
  }
}

/** Checks that a parsed value is a record: the record, or what is wrong with it. */
export function asRecord(value: unknown): JsonObject | string {
  if (value === null) return 'expected a JSON object, found null';
  if (Array.isArray(value)) return 'expected a JSON object, found a list';
  if (typeof value !== 'object') return `expected a JSON object, found a ${typeof value}`;
  return value as JsonObject;
}

/** What V8 says of a text that is not JSON, without the excerpt of the text. */
export function jsonProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const reason = message.replace(/,? (\.\.\.)?".*$/s, '').replace(/ in JSON at position.*$/s, '');
  return `not JSON: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`;
}
