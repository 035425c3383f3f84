import { STATUS_NAMES } from '../../../ground/api/status.js';
import { EVENT_TYPES, type EventType } from '../../../ground/core/event-types.js';
import { reference, type Schema } from '../request/schema-parts.js';

type DataMember = (typeof EVENT_TYPES)[EventType]['data'][number];

const TEXT: Schema = { type: 'string' };
const SCORE: Schema = { type: ['number', 'null'] };
const ORDER: Schema = { type: 'integer', minimum: 0, description: 'From 0.' };
const STATUS: Schema = { type: 'string', enum: STATUS_NAMES };
const CAUSE: Schema = { ...STATUS, description: 'Why the default was used.' };
/** A value of a column; the answer can hold any JSON of a plugin. */
const VALUE: Schema = {
  description: 'Null if it is not known. A bool is 0 or 1, a time is epoch milliseconds.',
};

/** The schema of each member of `event_data`. */
const MEMBERS: Readonly<Record<DataMember, Schema>> = {
  feature_identifier: { ...TEXT, description: 'The id; the ids of a composite are joined by `:`.' },
  feature_identifier_type: TEXT,
  feature_name: TEXT,
  feature_value: VALUE,
  feature_status: STATUS,
  feature_status_cause: CAUSE,
  model_name: TEXT,
  model_version: { type: ['string', 'null'] },
  model_output: VALUE,
  model_output_status: STATUS,
  model_output_status_cause: CAUSE,
  entity_identifier: TEXT,
  entity_identifier_type: TEXT,
  business_logic_pipeline_order: { type: 'integer', description: 'The step, from 1.' },
  business_logic_name: TEXT,
  old_score: SCORE,
  new_score: SCORE,
  moved_from: { type: 'integer', description: 'Its place by weaker rules, from 1.' },
  moved_to: { type: 'integer', description: 'Its place by the rule, from 1.' },
  rules: { type: 'array', items: TEXT, description: 'The rules of a list, e.g. campaigns:3.' },
  candidate_score: SCORE,
  candidate_order: ORDER,
  impression_score: SCORE,
  impression_order: ORDER,
  experiment_id: TEXT,
  entity_id: { ...TEXT, description: 'The id of the unit, as the log shows it; empty without a unit.' },
  result: { description: 'The arm.' },
  timestamp: TEXT,
  metadata: {
    description:
      '`unit`: the field of the unit; `mode`: split or interleave; `excluded`: why the request does not count; `status`: `ok` or the code of the error.',
  },
  has_error: { type: 'boolean', description: 'Whether an arm or the request failed.' },
};

/** The name of the definition of an event. */
const nameOf = (type: EventType): string => `event_${type.toLowerCase()}`;

const TYPES = Object.keys(EVENT_TYPES) as EventType[];

/** The schemas of all events by name; `event` is any of them; `event_type` says which one. */
export const EVENT_DEFINITIONS: Readonly<Record<string, Schema>> = {
  event: {
    oneOf: TYPES.map((type) => reference(nameOf(type))),
    discriminator: {
      propertyName: 'event_type',
      mapping: Object.fromEntries(TYPES.map((type) => [type, reference(nameOf(type)).$ref])),
    },
  },
  ...Object.fromEntries(TYPES.map((type) => [nameOf(type), eventSchema(type)])),
};

function eventSchema(type: EventType): Schema {
  const { each, data, optional, from } = EVENT_TYPES[type];
  return {
    type: 'object',
    description: `One for each ${each}.${from === 'sink' ? ' Only in sinks.' : ''}`,
    required: ['request_id', 'run_id', 'api_source', 'event_timestamp', 'event_type', 'event_data'],
    properties: {
      request_id: { type: ['string', 'null'] },
      run_id: { type: ['string', 'null'] },
      api_source: { type: 'string', description: 'The pipeline.' },
      event_timestamp: { type: 'string', description: 'When the request began, as ISO 8601.' },
      degraded: { type: 'string', description: 'Why the candidates are unranked.' },
      event_type: { type: 'string', const: type },
      event_data: {
        type: 'object',
        required: data.filter((member) => !(optional as readonly string[]).includes(member)),
        properties: Object.fromEntries(data.map((member) => [member, MEMBERS[member]])),
        ...(type === 'CUSTOM' ? { additionalProperties: true } : {}),
      },
    },
  };
}
