import type { SourceMessage } from '../../ground/api/source.js';
import { MillraceError } from '../../ground/api/errors.js';
import type { ErrorCode } from '../../ground/api/error-codes.js';
import type { Stored, Totals, Outcome } from './intake.js';

/** Errors after which the same content can never be stored. */
const FINAL: ReadonlySet<ErrorCode> = new Set([
  'invalid_body',
  'event_too_old',
  'body_too_large',
  'unknown_view',
  'unknown_entity_type',
  'record_unreadable',
]);

/** True if a retry of the same content could never succeed. */
export function isFinal(error: unknown): error is MillraceError {
  return error instanceof MillraceError && FINAL.has(error.code);
}

/** The reason of a message whose reading failed. It would fail again, and block the messages after it. */
export function unreadable(error: unknown): string {
  return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}

/** Collects what became of the messages of one batch. */
export class Outcomes {
  readonly #totals: Totals = {};
  readonly #reasons = new Map<number, string>();
  readonly #skipped = new Set<string>();

  add(outcome: Outcome, count: number): void {
    if (count > 0) this.#totals[outcome] = (this.#totals[outcome] ?? 0) + count;
  }

  /** @param kinds what the message was, if that is known */
  skip(kinds: readonly string[] = []): void {
    this.add('skipped', 1);
    this.leftOut(kinds);
  }

  /** The message is used, but not all that it holds. @param kinds what is left out */
  leftOut(kinds: readonly string[]): void {
    for (const kind of kinds) this.#skipped.add(kind);
  }

  /** The first reason of a message counts. */
  reject(position: number, reason: string): void {
    if (!this.#reasons.has(position)) this.#reasons.set(position, reason);
  }

  of(messages: readonly SourceMessage[]): Stored {
    const rejected = messages.flatMap((message, i) => {
      const reason = this.#reasons.get(i);
      return reason === undefined ? [] : [{ message, reason }];
    });
    this.add('rejected', rejected.length);
    return { totals: this.#totals, rejected, skipped: [...this.#skipped] };
  }
}
