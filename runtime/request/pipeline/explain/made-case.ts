import type { JsonObject } from '../../../ground/api/types.js';

/** A case of a test, as its file has it. */
export interface MadeCase {
  readonly time: string;
  readonly given: JsonObject;
  readonly request: JsonObject;
  readonly expect: JsonObject;
  /** What the case leaves out. */
  readonly notes: readonly string[];
}
