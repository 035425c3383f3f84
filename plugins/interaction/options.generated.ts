// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export const LISTS = ['max', 'sum'] as const;
export type Lists = (typeof LISTS)[number];

export type OutputsEntryEvent = string | readonly string[];

export interface OutputsEntry {
  /**
   * The kind of feedback to count, or a list of kinds that are counted together. `events:` in
   * millrace.yaml declares the kinds; without it they are impression, click, cart and order.
   */
  readonly event: OutputsEntryEvent;
  /** The time window in which events count, e.g. 30m, 1h, 7d; at most 366d. */
  readonly window: string;
  /**
   * count: the number of events; items: the sum of their quantities; has: whether there is an event;
   * seconds_since: the age of the newest event in seconds; sum(revenue), last(revenue) and
   * distinct(revenue): the sum of a value of the events, the value of the newest event, the number of
   * different values. A value is one that `events:` in millrace.yaml declares, or position.
   */
  readonly value: string;
}

export interface Options {
  /** The entity of the request whose events are counted, e.g. user. */
  readonly of: Input;
  /**
   * What the events are counted by: the candidate itself (product), or an attribute of it that is an id,
   * a text or a list of either (product.brand, product.categories). Without it, every event of the
   * entity counts for every candidate.
   */
  readonly with?: Input;
  /**
   * For a candidate with several values, such as product.categories: max takes the count or sum of the
   * value with the most, sum adds those of all values.
   */
  readonly lists: Lists;
  /** The outputs by name, each with what it counts. */
  readonly outputs: Readonly<Record<string, OutputsEntry>>;
}
