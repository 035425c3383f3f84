import { NAME_PATTERN, type JsonObject } from '../../ground/api/types.js';
import { field, nameField, objectField, optional, type BodyOf } from '../../ground/core/body-fields.js';
import type { ExplainedValue } from '../../request/pipeline/explain/explanation.js';

/** The bodies of the routes. */
export const WORKSHOP_BODIES = {
  logged: {
    request_id: nameField('the id of a logged request'),
    pipeline: optional(nameField('the name of a pipeline')),
  },
  keep: {
    test: field(
      { type: 'string', pattern: NAME_PATTERN.source, maxLength: 60 },
      (value): value is string => typeof value === 'string' && NAME_PATTERN.test(value) && value.length <= 60,
      'a name of small letters, digits and _, at most 60 characters',
    ),
    pipeline: nameField('the name of a pipeline'),
    request: objectField('the body of a request'),
  },
} as const;

export type KeepBody = BodyOf<(typeof WORKSHOP_BODIES)['keep']>;

/** A request of the ledger. */
export interface LoggedRanking {
  readonly request_id: string;
  /** The pipeline that gets the body. */
  readonly pipeline: string;
  /** When it was answered, ISO 8601. */
  readonly at: string;
  /** What can be sent again. */
  readonly body: JsonObject;
  /** What the log lacks. */
  readonly notes: readonly string[];
  /** Those of the page that was answered, in its order, then the others that were logged. */
  readonly candidates: readonly {
    readonly candidate_id: string;
    /** From 1; null if a step removed it. */
    readonly place: number | null;
    readonly score: number | null;
    /** As they were logged, by name. */
    readonly values: Readonly<Record<string, ExplainedValue>>;
  }[];
}

/** A ranking as a test of the project. */
export interface KeptTest {
  /** Where it belongs, below the folder of the project. */
  readonly file: string;
  /** Its content, which `millrace test` passes. */
  readonly yaml: string;
  readonly notes: readonly string[];
}
