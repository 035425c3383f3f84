import type { JsonObject, JsonValue } from '../api/types.js';

interface EventRow {
  /** Where it occurs. `request`: in the answer of a request with `include_events`, and in sinks; `sink`: only in sinks. */
  readonly from: 'request' | 'sink';
  /** What one event describes. */
  readonly each: string;
  /** The members of `event_data`, in order. */
  readonly data: readonly string[];
  /** Members that only some events have, e.g. the cause of a default. */
  readonly optional: readonly string[];
}

const CANDIDATE = ['entity_identifier', 'entity_identifier_type'] as const;

/** The table of all wire events, by `event_type`. The only place that says what an event holds. */
export const EVENT_TYPES = {
  FEATURE: {
    from: 'request',
    each: 'value that the pipeline reads or computes, see below',
    data: [
      'feature_identifier',
      'feature_identifier_type',
      'feature_name',
      'feature_value',
      'feature_status',
      'feature_status_cause',
    ],
    optional: ['feature_status_cause'],
  },
  MODEL: {
    from: 'request',
    each: 'prediction of a candidate',
    data: [
      'model_name',
      'model_version',
      'model_output',
      'model_output_status',
      'model_output_status_cause',
      ...CANDIDATE,
    ],
    optional: ['model_output_status_cause'],
  },
  BUSINESS_LOGIC: {
    from: 'request',
    each: 'score that a rule really changed; and, without scores, for each candidate that a rule of a list moved',
    data: [
      ...CANDIDATE,
      'business_logic_pipeline_order',
      'business_logic_name',
      'old_score',
      'new_score',
      'moved_from',
      'moved_to',
      'rules',
    ],
    optional: ['moved_from', 'moved_to', 'rules'],
  },
  CANDIDATE: {
    from: 'request',
    each: 'candidate that no filter removed, in its final order',
    data: [...CANDIDATE, 'candidate_score', 'candidate_order'],
    optional: [],
  },
  IMPRESSION: {
    from: 'request',
    each: 'candidate of the answered page; `impression_order` counts over the whole ranking',
    data: [...CANDIDATE, 'impression_score', 'impression_order'],
    optional: [],
  },
  EXPERIMENTATION: {
    from: 'sink',
    each: 'experiment that a request took part in',
    data: ['experiment_id', 'entity_id', 'result', 'timestamp', 'metadata', 'has_error'],
    optional: [],
  },
  CUSTOM: {
    from: 'request',
    each: 'event that a plugin emits, and in sinks feedback; further members follow',
    data: [...CANDIDATE],
    optional: [],
  },
} as const satisfies Record<string, EventRow>;

export type EventType = keyof typeof EVENT_TYPES;

/** The data of a CUSTOM event, as JSON. Its members follow those that every such event has. */
export function customEventText(id: string, type: string, data: JsonObject): string {
  return JSON.stringify({ entity_identifier: id, entity_identifier_type: type, ...withoutEntity(data) });
}

function withoutEntity(data: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(data).filter(([name]) => !CANDIDATE.some((own) => own === name)));
}

/** The members of `event_data`. */
export type EventData<T extends EventType> = Readonly<
  Record<Exclude<(typeof EVENT_TYPES)[T]['data'][number], OptionalMember<T>>, JsonValue> &
    Partial<Record<OptionalMember<T>, JsonValue>>
>;
type OptionalMember<T extends EventType> = (typeof EVENT_TYPES)[T]['optional'][number];

/** The members that every event has before `event_type` and `event_data`. */
export interface EventEnvelope {
  readonly request_id: string | null;
  readonly run_id: string | null;
  /** The pipeline; for other events `feedback` or `history`. */
  readonly api_source: string;
  readonly event_timestamp: string;
  /** Why the candidates are unranked. */
  readonly degraded?: string;
}
