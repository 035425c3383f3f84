import type { Span } from '../yaml/source.js';

/** `schemas/counters/<name>.yaml` */
export interface CounterDefinition {
  readonly name: string;
  /** The entity types of its key, in order. It is empty for a global counter. */
  readonly of: readonly string[];
  /** By entity of the key: the path from an entity of the event, such as `product`, `brand`. */
  readonly by: readonly (readonly string[])[];
  /** How long the counts of a key are kept after its last event, in milliseconds. */
  readonly ttl: number;
  readonly features: ReadonlyMap<string, CounterFeature>;
  readonly at: Span;
}

/** A feature of a counter. It has a window, a half-life, or neither: the time of the last event. */
export interface CounterFeature {
  readonly name: string;
  /** The kind of feedback that it counts. */
  readonly event: string;
  readonly value: CounterValue;
  /** Milliseconds. */
  readonly window: number | undefined;
  /** Milliseconds. */
  readonly halfLife: number | undefined;
  /** For a rate: the kind of feedback that it divides by. */
  readonly over: string | undefined;
  /** For a rate: events of `over` that are assumed before any event, and their rate. */
  readonly prior: { readonly weight: number; readonly mean: number | 'global' } | undefined;
  /** True if the rate divides by the events that are expected at the positions of the events of `over`. */
  readonly expected: boolean;
  readonly at: Span;
}

export type CounterValue =
  | { readonly kind: 'count' }
  /** `of` is a value of the kind of feedback, or `quantity`. */
  | { readonly kind: 'sum'; readonly of: string }
  /** `of` is an entity type, or a value of the kind of feedback. */
  | { readonly kind: 'distinct'; readonly of: string }
  | { readonly kind: 'last' };
