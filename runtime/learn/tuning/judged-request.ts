import type { JsonObject } from '../../ground/api/types.js';

/** A judged query as a request to a pipeline. */
export interface JudgedRequest {
  readonly body: JsonObject;
  /** By id of a candidate; NaN if it has no grade. */
  readonly grades: ReadonlyMap<string, number>;
}
