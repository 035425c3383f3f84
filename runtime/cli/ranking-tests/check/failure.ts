import type { Span } from '../../../project/config/yaml/source.js';

/** An expectation that does not hold. */
export interface Failure {
  /** The place of the expectation. */
  readonly at: Span;
  /** The key of `expect:`, or the name of a property. */
  readonly what: string;
  /** What was expected and what was found: one line, without a full stop. */
  readonly message: string;
  /** Further lines, such as a request that shows the failure. */
  readonly details?: readonly string[];
}
