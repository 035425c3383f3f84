import type { InteractionEvents } from 'millrace/api';
import type { OutputsEntryValue } from './options.generated.js';

/** One output: the events that count, and the value to compute from them. */
export interface Measure {
  readonly name: string;
  readonly types: readonly string[];
  /** Whether a kind counts, by its number. */
  readonly counts: readonly boolean[];
  /** Milliseconds. */
  readonly window: number;
  readonly value: OutputsEntryValue;
}

/**
 * The measure for each text of the events. For ages, a text without an event is NaN. An event counts from its time
 * until `window` is over, even if its clock is a little ahead of ours.
 */
export function measureTexts(
  { count, types, times, quantities, offsets, values, texts }: InteractionEvents,
  { counts, window, value }: Measure,
  now: number,
): Float64Array {
  const totals = new Float64Array(texts.length);
  if (value === 'seconds_since') totals.fill(NaN);
  const since = now - window;
  for (let e = 0; e < count; e++) {
    const time = times[e] as number;
    if (time <= since || counts[types[e] as number] !== true) continue;
    const end = offsets[e + 1] as number;
    for (let i = offsets[e] as number; i < end; i++) {
      const text = values[i] as number;
      if (value === 'count') totals[text] = (totals[text] as number) + 1;
      else if (value === 'items') totals[text] = (totals[text] as number) + (quantities[e] as number);
      else if (value === 'has') totals[text] = 1;
      // Events are ordered oldest first, so the last one is the newest.
      else totals[text] = Math.max(0, now - time) / 1000;
    }
  }
  return totals;
}
