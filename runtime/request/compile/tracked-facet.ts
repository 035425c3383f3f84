/** The subject of steps that count events about any entity. */
export const ANY_SUBJECT = '*';

/** Interactions that steps count by the values of one facet, such as the clicks of a week by `product.brand`. */
export interface TrackedFacet {
  /** Type of the entities that the events are about; ANY_SUBJECT if it does not matter. */
  readonly subject: string;
  /** The type of the subject, then attributes: `product`, `brand`. Empty for what the events carry themselves. */
  readonly segments: readonly string[];
  /** The segments joined by dots; for what events carry themselves, a colon and the name of the value. */
  readonly name: string;
  /** The kind of feedback. */
  readonly type: string;
  /** Milliseconds. */
  readonly window: number;
}
