interface EventRow {
  /** What one event describes. */
  readonly each: string;
  /** The members of `event_data`, in order. */
  readonly data: readonly string[];
  /** Members that only some events have, e.g. the cause of a default. */
  readonly optional: readonly string[];
}

const CANDIDATE = ['entity_identifier', 'entity_identifier_type'] as const;

/** The table of all wire events, by `event_type`. */
export const EVENT_TYPES = {
  FEATURE: {
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
    each: 'score that a rule really changed',
    data: [...CANDIDATE, 'business_logic_pipeline_order', 'business_logic_name', 'old_score', 'new_score'],
    optional: [],
  },
  CANDIDATE: {
    each: 'candidate that no filter removed, in its final order',
    data: [...CANDIDATE, 'candidate_score', 'candidate_order'],
    optional: [],
  },
  IMPRESSION: {
    each: 'candidate of the answered page; `impression_order` counts over the whole ranking',
    data: [...CANDIDATE, 'impression_score', 'impression_order'],
    optional: [],
  },
} as const satisfies Record<string, EventRow>;

export type EventType = keyof typeof EVENT_TYPES;
