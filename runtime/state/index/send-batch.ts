import type { ErrorCode } from '../../ground/api/error-codes.js';
import { MillraceError, type Violation } from '../../ground/api/errors.js';

/** The maximum number of reasons that are shown for one row. */
const MAX_REASONS = 3;
const ROW_POINTER = /^\/(?:entities|rows)\/(\d+)(.*)$/s;

/** Errors of a body after which its rows are sent in halves, until a row is alone. */
const HALVED: ReadonlySet<ErrorCode> = new Set(['body_too_large', 'record_unreadable']);

/** A row of a body, by its number in the input. */
export interface SentRow {
  readonly line: number;
}

/** A row that was refused, and the reason. */
export interface RefusedRow {
  readonly line: number;
  readonly problem: string;
}

/** The outcome of a body's rows. */
export interface Sent {
  /** Rows that were skipped, because the store has a later event time. */
  readonly older: number;
  /** The part of the other rows that are older than their view's ttl. */
  readonly expired?: number;
  /** Rows of updates that were not stored, because the index does not have their entities. */
  readonly unknown?: number;
  /** Rows whose id appeared earlier in this load. */
  readonly duplicates?: number;
}

/** Sends rows in one body. */
export type Send<R extends SentRow> = (rows: readonly R[]) => Promise<Sent>;

export interface BatchOutcome extends Required<Sent> {
  readonly loaded: number;
}

const NOTHING: BatchOutcome = { loaded: 0, older: 0, expired: 0, unknown: 0, duplicates: 0 };

/**
 * Sends a batch. A body is accepted or rejected as a whole. If some rows are rejected, the other rows are sent again
 * without them. If the body is too large, or a record that it changes is damaged, it is sent in halves.
 * @throws MillraceError for any error that single rows did not cause
 */
export async function sendBatch<R extends SentRow>(
  rows: readonly R[],
  send: Send<R>,
  onBad: (bad: RefusedRow) => void,
): Promise<BatchOutcome> {
  let left = rows;
  while (left.length > 0) {
    try {
      const { older, expired = 0, unknown = 0, duplicates = 0 } = await send(left);
      return { loaded: left.length - older - unknown, older, expired, unknown, duplicates };
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      if (HALVED.has(error.code)) return await sendHalves(left, send, onBad, error);
      if (error.code !== 'invalid_body') throw error;
      left = withoutRefused(left, error, onBad);
    }
  }
  return NOTHING;
}

async function sendHalves<R extends SentRow>(
  rows: readonly R[],
  send: Send<R>,
  onBad: (bad: RefusedRow) => void,
  error: MillraceError,
): Promise<BatchOutcome> {
  const [first] = rows;
  if (rows.length === 1 && first !== undefined) {
    onBad({ line: first.line, problem: error.message });
    return NOTHING;
  }
  const middle = Math.ceil(rows.length / 2);
  const a = await sendBatch(rows.slice(0, middle), send, onBad);
  const b = await sendBatch(rows.slice(middle), send, onBad);
  return {
    loaded: a.loaded + b.loaded,
    older: a.older + b.older,
    expired: a.expired + b.expired,
    unknown: a.unknown + b.unknown,
    duplicates: a.duplicates + b.duplicates,
  };
}

/**
 * Returns the rows that no violation names. Throws the error if it names no row, since a retry would give the same
 * error.
 */
function withoutRefused<R extends SentRow>(
  rows: readonly R[],
  error: MillraceError,
  onBad: (bad: RefusedRow) => void,
): readonly R[] {
  const reasons = new Map<number, string[]>();
  for (const violation of error.violations) {
    const [, index, place] = ROW_POINTER.exec(violation.pointer) ?? [];
    if (index === undefined || Number(index) >= rows.length) throw error;
    const found = reasons.get(Number(index)) ?? [];
    found.push(reason(place ?? '', violation));
    reasons.set(Number(index), found);
  }
  if (reasons.size === 0) throw error;
  for (const [index, texts] of [...reasons].sort(([a], [b]) => a - b)) {
    const more = texts.length > MAX_REASONS ? `; and ${String(texts.length - MAX_REASONS)} more` : '';
    const problem = texts.slice(0, MAX_REASONS).join('; ') + more;
    onBad({ line: rows[index]?.line ?? 0, problem });
  }
  return rows.filter((_, index) => !reasons.has(index));
}

/** Leaves the place out if the service's own message contains it. */
function reason(place: string, { detail }: Violation): string {
  const name = place.slice(place.lastIndexOf('/') + 1);
  return place === '' || detail.includes(name) ? detail : `${place}: ${detail}`;
}
