import { type InteractionEvents, type InteractionsInput, isKnown } from 'millrace/api';

/** What an output computes from events … */
export const OF_EVENTS = ['count', 'items', 'has', 'seconds_since'] as const;
/** … and from a value of the events. */
export const OF_VALUES = ['sum', 'last', 'distinct'] as const;

export type Counting = (typeof OF_EVENTS)[number] | (typeof OF_VALUES)[number];

/** One output: the events that count, and the value to compute from them. */
export interface Measure {
  readonly name: string;
  readonly types: readonly string[];
  /** Whether a kind counts, by its number. */
  readonly counts: readonly boolean[];
  /** Milliseconds. */
  readonly window: number;
  readonly value: Counting;
  /** The events with the value that is summed, counted or the last. */
  readonly of?: InteractionsInput;
}

/** What each text of the events has. */
export interface Totals {
  /** NaN for an age or a last value without an event. */
  readonly values: Float64Array;
  /** The time of the newest event, epoch milliseconds; -Infinity if there is none. */
  readonly newest: Float64Array;
}

/**
 * The measure for each text of the events. An event counts from its time until `window` is over, even if its clock is a
 * little ahead of ours.
 * @param own the same events with the value that they carry
 */
export function measureTexts(
  { count, types, times, quantities, offsets, values, texts }: InteractionEvents,
  { counts, window, value }: Measure,
  own: InteractionEvents | undefined,
  now: number,
): Totals {
  const totals = new Float64Array(texts.length);
  const newest = new Float64Array(texts.length).fill(-Infinity);
  if (value === 'seconds_since' || value === 'last') totals.fill(NaN);
  const different = new Map<number, Set<string>>();
  const since = now - window;
  for (let e = 0; e < count; e++) {
    const time = times[e] as number;
    if (time <= since || counts[types[e] as number] !== true) continue;
    const carried = own === undefined ? undefined : valueAt(own, e);
    if (own !== undefined && carried === undefined) continue;
    const end = offsets[e + 1] as number;
    for (let i = offsets[e] as number; i < end; i++) {
      const text = values[i] as number;
      // Events are ordered oldest first, so the last one is the newest.
      newest[text] = time;
      if (value === 'count') totals[text] = (totals[text] as number) + 1;
      else if (value === 'items') totals[text] = (totals[text] as number) + (quantities[e] as number);
      else if (value === 'has') totals[text] = 1;
      else if (value === 'sum') totals[text] = (totals[text] as number) + Number(carried);
      else if (value === 'last') totals[text] = Number(carried);
      else if (value === 'seconds_since') totals[text] = Math.max(0, now - time) / 1000;
      else {
        const known = different.get(text) ?? new Set<string>();
        different.set(text, known.add(carried ?? ''));
        totals[text] = known.size;
      }
    }
  }
  return { values: totals, newest };
}

/** The value that an event carries itself; undefined if it carries none. */
function valueAt({ status, offsets, values, texts }: InteractionEvents, event: number): string | undefined {
  const at = offsets[event] ?? 0;
  return isKnown(status) && at < (offsets[event + 1] ?? 0) ? texts[values[at] as number] : undefined;
}

/** The events as if each had one and the same text. */
export function withOneText(events: InteractionEvents): InteractionEvents {
  const { count } = events;
  const offsets = Int32Array.from({ length: count + 1 }, (_, i) => i);
  return { ...events, offsets, values: new Int32Array(count), texts: [''] };
}
