import type { Sent } from './turns.js';

/** A body, and what the store holds for it. */
export interface Load {
  readonly sent: Sent;
  /** Bodies to send before, not measured. */
  readonly before?: readonly Sent[];
  /** The bytes of records that are read for the body, if it is accepted. */
  readonly read?: number;
  /** The bytes that the service read besides, by its answer. */
  readonly readOf?: ((answer: unknown) => number) | undefined;
}

/** A case that grows: bodies of any size. */
export interface GrowingCase {
  /** What it covers: `function contains`, `operator in`, `option dedupe.by`, `route /api/v1/feedback`. */
  readonly covers: string;
  readonly what: string;
  /** The file of the pipeline that the case needs, if it is not always there. */
  readonly file?: string;
  /** True if it always runs: what it measures is answered with 200. */
  readonly isBaseline?: true;
  /** True if its expression is long: CPU a byte is then a matter of the expression, so only growth and turns count. */
  readonly isWide?: true;
  /** More CPU a byte than others may take, nanoseconds, because a library takes it. */
  readonly perByteNs?: number;
  /** True if it grows to its limit: what is small for each element of a list shows only when they are many. */
  readonly isFar?: boolean;
  /** The largest body that the route takes, in bytes. */
  readonly limit: number;
  /** Makes a body of about so many bytes. Bodies of different seeds have no text in common, where the shape allows it. */
  readonly make: (bytes: number, seed: number) => Load;
}
