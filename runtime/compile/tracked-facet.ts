import type { InteractionType } from '../api/interactions.js';

/** What steps count of one facet, e.g. clicks of a week by `product.brand`. */
export interface TrackedFacet {
  /** Type of the entities that the events are of. */
  readonly subject: string;
  /** The subject's type, then attributes: `product`, `brand`. */
  readonly segments: readonly string[];
  /** The segments joined by dots. */
  readonly name: string;
  readonly type: InteractionType;
  /** Milliseconds. */
  readonly window: number;
}
