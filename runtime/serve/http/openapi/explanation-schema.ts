import { STATUS_NAMES } from '../../../ground/api/status.js';
import { DEGRADATION_CAUSES } from '../../../request/pipeline/page/degraded.js';
import { STAGES } from '../../../request/pipeline/stages.js';
import { EXPLANATION_EXAMPLE } from './explanation-example.js';
import type { Schema } from './types.js';

const text: Schema = { type: 'string' };
const count: Schema = { type: 'integer', minimum: 0 };
const number: Schema = { type: 'number' };
const score: Schema = { type: ['number', 'null'], description: 'Null where no step set it.' };
const status: Schema = { type: 'string', enum: STATUS_NAMES };
const cause: Schema = {
  type: 'string',
  enum: STATUS_NAMES,
  description: 'Of `defaulted`: why the default was used.',
};

const list = (items: Schema): Schema => ({ type: 'array', items });
const byName = (values: Schema): Schema => ({ type: 'object', additionalProperties: values });

function record(required: Readonly<Record<string, Schema>>, optional: Schema = {}): Schema {
  return {
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...optional },
    additionalProperties: false,
  };
}

const values = byName(
  record(
    {
      value: { description: 'Null where it is not known; a bool is 0 or 1, a time epoch milliseconds.' },
      status,
    },
    { cause, length: { ...count, description: 'Of what is longer than `value` shows.' } },
  ),
);

const step = record(
  {
    step: { ...count, description: '1-based, as written.' },
    use: text,
    as: text,
    kind: { type: 'string', enum: ['feature', 'filter', 'model', 'rule', 'effect'] },
    outcome: { type: 'string', enum: ['ran', 'not_asked_for', 'failed'] },
    reads: list(text),
  },
  {
    version: { ...text, description: "Of a model's file." },
    notes: { ...list(text), description: 'What it decided when it was compiled, as in `millrace plan`.' },
    when: text,
    top: count,
    reason: text,
    removed: record({ count, ids: list(text) }),
    undecided: count,
    applied: count,
    skipped: count,
    not_finite: count,
    not_known: {
      ...byName(byName(count)),
      description: 'Of what the step reads: for how many candidates it is not known, by status.',
    },
    hidden: {
      ...byName(list(text)),
      description: 'For a rule: by the name of a rule of its list, ids that it removed.',
    },
    outputs: byName(byName(count)),
  },
);

const rules: Schema = { ...list(text), description: 'The rules of the list that changed it.' };

const change: Schema = {
  anyOf: [
    record({ step: count, as: text, before: score, after: score }, { rules }),
    record({ step: count, as: text, pinned_to: count }, { moved_from: count, rules }),
    record({ step: count, as: text, pin_lost: count }, { rules }),
    record({ step: count, as: text, moved_to: count }, { moved_from: count, rules }),
    record(
      { step: count, as: text, put_below: { type: 'boolean', const: true } },
      { moved_from: count, moved_to: count, rules },
    ),
  ],
};

const interleaved: Schema = {
  ...record({ team: { type: ['string', 'null'] }, places: byName({ type: ['integer', 'null'] }) }),
  description:
    'Of an interleaved request: the arm that placed it, null if both did; and its place in the order of each arm.',
};

const drawn: Schema = {
  ...record({ place_before: { type: 'integer', minimum: 1 }, propensity: number, marginal: number }),
  description:
    'If the step `explore` drew the place: the place without it, and the probabilities of the candidate there, given those above it and in all.',
};

const EXPLANATION: Schema = record(
  {
    request_id: text,
    run_id: text,
    pipeline: text,
    route: text,
    candidates: record(
      {
        sent: count,
        duplicates: record({ count, ids: list(text) }),
        left: count,
      },
      { index: record({ where: text, scanned: count, matched: count, taken: count }) },
    ),
    params: { ...byName(number), description: 'The values of the params of the pipeline, by name.' },
    degraded: list(record({ cause: { type: 'string', enum: Object.keys(DEGRADATION_CAUSES) }, value: text })),
    stages: list(record({ stage: { type: 'string', enum: STAGES.map(({ name }) => name) }, ms: number })),
    store: record({ round_trips: count, keys_read: count }),
    outside: record({ round_trips: count, keys_read: count }),
    unknown_fields: list(record({ field: text, times: count })),
    features: list(record({ view: text, status, values: count }, { cause })),
    steps: list(step),
    request: values,
    page: list(
      record(
        {
          candidate_id: text,
          place: count,
          ranked_score: score,
          score,
          changes: list(change),
          values,
        },
        { interleaved, drawn },
      ),
    ),
    answer: {
      type: 'object',
      description: 'What the route would have answered.',
      additionalProperties: true,
    },
  },
  {
    answered: { ...values, description: 'Of a pipeline that scores: what its `answer:` names.' },
    experiments: {
      ...list(record({ experiment: text, arm: text }, { excluded: text, problem: text })),
      description: 'The experiments that the request takes part in.',
    },
  },
);

/** The schema of an Explanation, as it appears in `#/components/schemas`. */
export const EXPLANATION_SCHEMA: Schema = { ...EXPLANATION, examples: [EXPLANATION_EXAMPLE] };
