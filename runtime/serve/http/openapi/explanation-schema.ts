import { COMPONENT_KINDS } from '../../../ground/api/plugin.js';
import { STATUS_NAMES } from '../../../ground/api/status.js';
import { READ_OUTCOMES } from '../../../state/index/feature-source.js';
import { DEGRADATION_CAUSES } from '../../../request/pipeline/page/degraded.js';
import { RETRIEVER_OUTCOMES } from '../../../request/pipeline/request/retrieval-report.js';
import {
  ACCOUNT_METHODS,
  CANDIDATE_FATES,
  STEP_OUTCOMES,
} from '../../../request/pipeline/explain/explanation.js';
import { STAGES } from '../../../request/pipeline/stages.js';
import { EXPLANATION_EXAMPLE } from './explanation-example.js';
import { schemaRef, type Schema } from './types.js';

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

const fields = list(record({ field: text, times: count }));

const value: Readonly<Record<string, Schema>> = {
  value: { description: 'Null where it is not known; a bool is 0 or 1, a time epoch milliseconds.' },
  status,
};
const moreOfValue: Schema = {
  cause,
  length: { ...count, description: 'Of what is longer than `value` shows.' },
};
const values = byName(record(value, moreOfValue));

const part: Readonly<Record<string, Schema>> = { text: { ...text, description: 'As written.' }, ...value };
const moreOfPart: Schema = {
  ...moreOfValue,
  of: { ...text, description: 'The account of the value, if it has one.' },
  parts: { ...list(schemaRef('explained_part')), description: 'Of an expression, what it is made of.' },
};

/** A part of an expression has parts. */
export const PART_SCHEMA = record(part, moreOfPart);

const account: Schema = {
  ...record(
    {
      of: { ...text, description: '`score`, the output of a step, or a definition.' },
      value: number,
      method: { type: 'string', enum: ACCOUNT_METHODS },
    },
    {
      step: count,
      sum: { ...number, description: 'What was divided, where the model turns the sum into another value.' },
      reason: { ...text, description: 'Why it is not divided.' },
      base: number,
      terms: list(
        record(
          { ...part, amount: number },
          {
            ...moreOfPart,
            weight: { ...number, description: 'The amount is this number times the value.' },
            column: { ...text, description: "The model's name of the column." },
            against: { ...schemaRef('explained_part'), description: 'Of the other candidate.' },
          },
        ),
      ),
      remainder: { ...number, description: 'What the terms miss; absent if nothing.' },
    },
  ),
  description: 'base + amounts + remainder is the value, or `sum`.',
};

const sought: Schema = {
  ...record({ places: byName(count) }, { merged: count }),
  description: 'Its places in the lists of the retrievers that found it, and in the merged list.',
};

const step = record(
  {
    step: { ...count, description: '1-based, as written.' },
    use: text,
    as: text,
    kind: { type: 'string', enum: COMPONENT_KINDS },
    outcome: { type: 'string', enum: STEP_OUTCOMES },
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

export const CARD_SCHEMA: Schema = {
  ...record(
    { title: { ...text, description: 'The id, if the entity has no title.' } },
    {
      subtitle: text,
      image: { ...text, description: 'An address at a host of the setting `image_hosts`.' },
      blocked_host: { ...text, description: 'The host of an image that `image_hosts` does not name.' },
      badges: list(record({ name: text, value: { description: 'A text, a number or a bool.' } })),
      missing: { type: 'boolean', const: true, description: 'If the index has no such entity.' },
    },
  ),
  description: 'What people see of the candidate, if its entity type has a `display:`.',
};

const compared: Schema = {
  ...record({ candidate_id: text, place: { type: ['integer', 'null'] }, score, changes: list(change) }),
  description: '`place` is null if a step removed it.',
};

const pair: Schema = {
  ...record(
    { candidates: { ...list(compared), minItems: 2, maxItems: 2 } },
    {
      split: {
        ...record({ step: count, as: text, below: text }),
        description: 'The step that put one of them below the other; scores are those before it.',
      },
      reason: { ...text, description: 'Why they are not compared.' },
      difference: { ...number, description: 'The value of the first account and the amounts of `changed`.' },
      changed: list(record({ step: count, as: text, amount: number })),
      contributions: list(account),
    },
  ),
  description: 'If requested: two candidates; all numbers are those of the first minus those of the second.',
};

const lifts: Schema = {
  ...record(
    {
      candidate_id: text,
      to: count,
      place: { type: ['integer', 'null'], description: 'Null if a step removed it.' },
      tried: { ...count, description: 'How many values were tried, one at a time.' },
      lifts: list(
        record({
          name: text,
          value: number,
          percentile: { ...number, description: 'Of the candidates of the request.' },
          new_value: number,
          new_percentile: number,
          place: { ...count, description: 'Where the candidate is then.' },
        }),
      ),
    },
    {
      left_out: { ...count, description: 'Numbers that were not tried, because there are too many.' },
      reason: { ...text, description: 'Why nothing was tried.' },
    },
  ),
  description: 'If requested: what lifts a candidate to a place, the smallest change first.',
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
      {
        missing: { ...count, description: 'Those that the index does not have; absent if it has all.' },
        index: record({ where: text, scanned: count, matched: count, taken: count }),
        brought: {
          ...record({ ids: list(text), left_out: count }),
          description: 'Those that pins with `bring: true` brought, and how many had no room.',
        },
        retrieval: {
          ...record(
            {
              retrievers: list(
                record(
                  {
                    as: text,
                    outcome: { type: 'string', enum: Object.keys(RETRIEVER_OUTCOMES) },
                    found: count,
                    ms: number,
                  },
                  { reason: text },
                ),
              ),
              found: { ...count, description: 'Different candidates of all retrievers.' },
              cut: {
                ...record({ count, ids: list(text) }),
                description: 'Those that `most` of `merge` left out.',
              },
            },
            { sought },
          ),
          description: 'If retrievers found the candidates.',
        },
      },
    ),
    params: { ...byName(number), description: 'The values of the params of the pipeline, by name.' },
    degraded: list(record({ cause: { type: 'string', enum: Object.keys(DEGRADATION_CAUSES) }, value: text })),
    stages: list(record({ stage: { type: 'string', enum: STAGES.map(({ name }) => name) }, ms: number })),
    store: record({ round_trips: count, keys_read: count }),
    outside: record(
      { round_trips: count, keys_read: count },
      {
        reads: {
          ...list(
            record(
              {
                view: text,
                outcome: { type: 'string', enum: Object.keys(READ_OUTCOMES) },
                keys: count,
                asked: { ...count, description: 'Keys without a fresh row that is kept.' },
                stale: { ...count, description: 'Asked keys for which an older row was used.' },
                ms: number,
              },
              { reason: text },
            ),
          ),
          description: 'What became of the reads of views that plugins read.',
        },
      },
    ),
    unknown_fields: fields,
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
        {
          card: CARD_SCHEMA,
          interleaved,
          drawn,
          contributions: {
            ...list(account),
            description: 'If requested: how the score came to be, first, and then what it reads.',
          },
        },
      ),
    ),
    answer: {
      type: 'object',
      description: 'What the route would have answered.',
      additionalProperties: true,
    },
  },
  {
    coerced_fields: {
      ...fields,
      description: 'With `accept: lax`: the fields whose values were converted to their declared types.',
    },
    compared: pair,
    params_diff: {
      type: 'string',
      description:
        'If the request asks for other values of params: the change of the file of the pipeline as a unified diff; empty if nothing differs.',
    },
    lifts,
    test_case: {
      type: 'object',
      description: 'If requested: what the ranking read and answered, as a case of a test of rankings.',
    },
    heard: { ...list(text), description: 'Of a preview of a draft: the names of the rules that apply.' },
    why: {
      ...record(
        { candidate_id: text, fate: { type: 'string', enum: Object.keys(CANDIDATE_FATES) } },
        {
          card: CARD_SCHEMA,
          place: count,
          step: count,
          as: text,
          rules: list(text),
          reason: text,
          found: sought,
        },
      ),
      description: 'The candidate of the parameter `why`.',
    },
    answered: { ...values, description: 'Of a pipeline that scores: what its `answer:` names.' },
    experiments: {
      ...list(record({ experiment: text, arm: text }, { excluded: text, problem: text })),
      description: 'The experiments that the request takes part in.',
    },
  },
);

/** The schema of an Explanation, as it appears in `#/components/schemas`. */
export const EXPLANATION_SCHEMA: Schema = { ...EXPLANATION, examples: [EXPLANATION_EXAMPLE] };
