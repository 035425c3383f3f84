import { STORE_WRITE_FAILURES } from '../../api/error-codes.js';
import { INTERACTION_TYPES } from '../../api/interactions.js';
import type { EntityType } from '../../config/project/model.js';
import { CLOCK_AHEAD, MAX_EVENTS, MOST_ITEMS } from '../../feedback/check-feedback.js';
import { exampleId } from '../openapi/entity-schemas.js';
import { ID_SCHEMA } from '../../core/ids.js';
import { TIME_SCHEMA } from '../../core/value-schema.js';
import { carriedSchema } from '../../pipeline/request/request-schema.js';
import { typesOfFeedback } from '../entity-types-of.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { jsonAnswer, type Schema } from '../openapi/types.js';
import { answerWrite } from '../handle-body.js';
import type { ApiParts, PostRoute } from '../route.js';

const COUNTS = {
  stored: 'Events that are counted from now on.',
  duplicates: 'Events that are known already: the same kind, of the same entity, of the same request.',
  too_old: 'Events that are older than any step counts, or than the newest that are kept.',
  unused: 'Events that no step of a pipeline counts.',
};

const ITEMS: Schema = { type: ['integer', 'null'], minimum: 1, maximum: MOST_ITEMS };

const EVENT_FIELDS: Schema = {
  type: { type: 'string', enum: INTERACTION_TYPES },
  time: {
    ...TIME_SCHEMA,
    type: [...TIME_SCHEMA.type, 'null'],
    description:
      'When it happened: epoch milliseconds, or a date and time of ISO 8601; now, when absent. At most ' +
      `${CLOCK_AHEAD / 60_000} minutes in the future.`,
  },
  quantity: { ...ITEMS, description: 'How many items it was of; 1, when absent.' },
  position: { ...ITEMS, description: 'Where it stood, from 1. Checked, and not counted.' },
};

export const feedback: PostRoute = {
  path: '/api/v1/feedback',
  scope: 'feedback',
  method: 'POST',
  class: 'feedback',
  writes: true,
  body: {
    limit: 'otherBytes',
    entityTypes: typesOfFeedback,
    schema: bodySchema,
    examples: ({ entityTypes }) => ({
      click: { summary: 'a click and what was seen', value: exampleBody([...entityTypes.values()]) },
    }),
  },
  handler: ({ feedback: service, metrics }) =>
    answerWrite(async (body, span) => {
      const { answer, counts } = await service.record(body, span);
      metrics.recorded(counts);
      return answer;
    }, 'events'),
  operation: () => ({
    operationId: 'send_feedback',
    tags: ['Feedback'],
    summary: 'Tell what a user did with what was shown',
    description:
      'For the steps that `use: interaction`. Beside `request_id` and `events` the body names the entities whose events these ' +
      'are, mostly `user` (null where it is not known); an event names the one that it is of. Attributes that an entity does ' +
      'not carry are found in the index. The same event sent again is not counted again; all of it is refused if any is wrong.',
    responses: {
      200: jsonAnswer(
        'All events are handled; the counts together are all of them.',
        {
          type: 'object',
          required: ['request_id', ...Object.keys(COUNTS)],
          properties: {
            request_id: { type: 'string' },
            ...Object.fromEntries(
              Object.entries(COUNTS).map(([name, description]) => [name, { type: 'integer', description }]),
            ),
          },
        },
        { request_id: 'request-1', stored: 3, duplicates: 0, too_old: 0, unused: 0 },
      ),
      ...problemResponses([
        ...BODY_PROBLEMS,
        ...STORE_WRITE_FAILURES,
        'record_unreadable',
        'deadline_exceeded',
      ]),
    },
  }),
};

function bodySchema({ entityTypes }: ApiParts): Schema {
  const entities = Array.from(entityTypes.values(), (type): [string, Schema] => [
    type.name,
    {
      ...carriedSchema(type, entityTypes),
      description: `A ${type.name}; attributes of it may be there too.`,
    },
  ]);
  return {
    type: 'object',
    required: ['request_id', 'events'],
    // Three properties: the required fields and one entity.
    minProperties: 3,
    additionalProperties: false,
    properties: {
      request_id: { ...ID_SCHEMA, description: 'Of the ranking that the events come from.' },
      events: {
        type: 'array',
        maxItems: MAX_EVENTS,
        items: {
          type: 'object',
          required: ['type'],
          ...(entities.length === 0 ? {} : { oneOf: entities.map(([name]) => ({ required: [name] })) }),
          additionalProperties: false,
          properties: { ...EVENT_FIELDS, ...Object.fromEntries(entities) },
        },
      },
      ...Object.fromEntries(entities.map(([name, schema]) => [name, { anyOf: [schema, { type: 'null' }] }])),
    },
  };
}

function exampleBody(types: readonly EntityType[]): Schema {
  const named = (name: string): EntityType | undefined => types.find((type) => type.name === name);
  const subject = named('product') ?? types[0];
  const owner = named('user') ?? subject;
  if (subject === undefined || owner === undefined) return { request_id: 'request-1', events: [] };
  const { name, key } = subject;
  return {
    request_id: 'request-1',
    [owner.name]: { [owner.key]: exampleId(owner.name) },
    events: [
      { type: 'impression', [name]: { [key]: exampleId(name) }, position: 1 },
      { type: 'click', [name]: { [key]: exampleId(name) }, position: 1 },
      { type: 'order', [name]: { [key]: exampleId(name) }, quantity: 2 },
    ],
  };
}
