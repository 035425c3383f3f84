import { setTimeout as delay } from 'node:timers/promises';
import type { Source, SourceMessage } from '../../ground/api/source.js';
import type { Intake, Stored } from './intake.js';
import type { Pace } from './pace.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

/** Receives what happens to a source. */
export interface ConsumeObserver {
  /** The source answers: after the first answer, and after each failure. */
  found?(): void;
  /** The source does not answer. It is asked again after `retryMs`. */
  lost?(error: unknown, retryMs: number): void;
  /** Messages could not be stored; the same messages are stored again after `retryMs`. */
  waiting?(error: unknown, retryMs: number): void;
  /** Messages are stored, and settled at the source. */
  settled?(messages: number, stored: Stored): void;
}

export interface ConsumeOptions {
  /** Aborts reading. The messages that were read are still stored and settled. */
  readonly signal: AbortSignal;
  readonly pace: Pace;
  readonly observer: ConsumeObserver;
}

/**
 * Stores the messages of a source until the signal aborts. A message is settled after the store has it, so each message
 * is stored at least once. What is stored twice counts once: feedback by its event ids, feature rows by their event
 * times, entities because they are replaced whole. Messages that can never be stored go to another place, with the reason.
 * If the store or the server of the source is down, the source waits and retries.
 */
export async function consume(
  source: Source,
  intake: () => Intake,
  { signal, pace, observer }: ConsumeOptions,
): Promise<void> {
  let isOpen = false;
  let isFound = false;
  /** Messages were read, but not settled. A server that refuses to settle may still let its messages be read. */
  let isUnsettled = false;
  let pauseMs = 0;
  const isOver = (): boolean => signal.aborted;
  const found = (): void => {
    if (!isFound) observer.found?.();
    isFound = true;
    pauseMs = 0;
  };
  while (!isOver()) {
    try {
      if (!isOpen) await source.open(signal);
      isOpen = true;
      await pace.turn(signal);
      const messages = await source.read(pace.most, signal);
      pace.read(messages);
      if (messages.length === 0) isUnsettled = false;
      if (!isUnsettled) found();
      if (messages.length === 0) continue;
      const stored = await storeAll(messages, intake, { signal, pace, observer });
      if (stored === undefined) break;
      isUnsettled = true;
      await source.settle(messages, stored.rejected);
      isUnsettled = false;
      found();
      observer.settled?.(messages.length, stored);
    } catch (error) {
      if (isOver()) break;
      isOpen = false;
      isFound = false;
      pauseMs = longer(pauseMs);
      observer.lost?.(error, pauseMs);
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Stores messages as soon as the store takes them. @returns undefined if the signal aborted before that */
async function storeAll(
  messages: readonly SourceMessage[],
  intake: () => Intake,
  { signal, pace, observer }: ConsumeOptions,
): Promise<Stored | undefined> {
  for (let pauseMs = longer(0); ; pauseMs = longer(pauseMs)) {
    try {
      return await intake().store(messages, pace);
    } catch (error) {
      if (signal.aborted) return undefined;
      observer.waiting?.(error, pauseMs);
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

function longer(pauseMs: number): number {
  return Math.min(LONGEST_PAUSE_MS, pauseMs === 0 ? FIRST_PAUSE_MS : 2 * pauseMs);
}
