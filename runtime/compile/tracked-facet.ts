/** Interactions that steps count by the values of one facet, such as the clicks of a week by `product.brand`. */
export interface TrackedFacet {
  /** Type of the entities that the events are about. */
  readonly subject: string;
  /** The type of the subject, then attributes: `product`, `brand`. */
  readonly segments: readonly string[];
  /** The segments joined by dots. */
  readonly name: string;
  /** The kind of feedback. */
  readonly type: string;
  /** Milliseconds. */
  readonly window: number;
}
