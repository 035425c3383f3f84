import { STORE_WRITE_FAILURES } from '../../../ground/api/error-codes.js';
import type { EntityType } from '../../../project/config/model/entities.js';
import type { EventKind, EventValueType } from '../../../project/config/model/events.js';
import type { EventField } from '../../../project/config/project/reserved-names.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { CLOCK_AHEAD, COUNT_FIELD, EVENTS_BODY } from '../../feedback/check-feedback.js';
import type { FeedbackAnswer } from '../../feedback/feedback.js';
import { exampleId } from '../openapi/entity-schemas.js';
import { ID_SCHEMA, WELL_FORMED } from '../../../ground/core/ids.js';
import { plainSchema, TIME_SCHEMA } from '../../../ground/core/value-schema.js';
import { embedComponents } from '../openapi/embed-schema.js';
import { carriedSchema } from '../../../request/pipeline/request/request-schema.js';
import { typesOfFeedback } from '../entity-types-of.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import {
  choiceOf,
  ID_OR_NULL,
  jsonAnswer,
  objectOf,
  schemaRef,
  TIME,
  type Schema,
} from '../openapi/types.js';
import { answerWrite } from '../handle-body.js';
import type { ApiParts, PostRoute } from '../route.js';

const count = (description: string): Schema => ({ type: 'integer', description });

const COUNTS = {
  stored: count('Events that are counted from now on.'),
  duplicates: count(
    'Events that are known already: the same kind, of the same entity, with the same `event_id` or of the same request.',
  ),
  too_old: count('Events that are older than any step counts, or than the newest that are kept.'),
  unused: count('Events that no step of a pipeline and no counter counts.'),
  uncounted: count(
    'The part of all these that is too old for counters, which may have counted it before. Histories and the ledger have it.',
  ),
};

const EVENT_PARTS: Readonly<Record<Exclude<EventField, 'type'>, Schema>> = {
  event_id: {
    ...ID_OR_NULL,
    description:
      'Identifies the event, e.g. an order number. It is not counted again for the same entity; without it, one event of each type, entity and request is counted.',
  },
  time: {
    anyOf: [TIME, { type: 'null' }],
    description:
      'When it happened: epoch milliseconds, or a date and time of ISO 8601; now, when absent. At most ' +
      `${CLOCK_AHEAD / 60_000} minutes in the future.`,
  },
  quantity: { ...COUNT_FIELD.schema, description: 'How many items it was of; 1, when absent.' },
  position: {
    ...COUNT_FIELD.schema,
    description:
      'The position in the ranking, from 1. It is recorded; counters with `expected` compare positions.',
  },
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
    schema: feedbackSchema,
    examples: ({ entityTypes, eventKinds }) => ({
      click: {
        summary: 'a click and what was seen',
        value: exampleBody([...entityTypes.values()], eventKinds),
      },
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
      'not carry are found in the index. The same event sent again is not counted again; all of it is refused if any is wrong. ' +
      'Events of no ranking, such as an order from the back office, have no `request_id`; each then needs `event_id` or `time`. ' +
      'If nobody is known that they belong to, such as `user: null`, each needs `event_id`.',
    responses: {
      200: jsonAnswer(
        'All events are handled; the counts without `uncounted` together are all of them.',
        objectOf<FeedbackAnswer>({
          request_id: { type: ['string', 'null'], description: 'Null if the body has none.' },
          ...COUNTS,
        }),
        { request_id: 'request-1', stored: 3, duplicates: 0, too_old: 0, unused: 0, uncounted: 0 },
      ),
      ...problemResponses([
        ...BODY_PROBLEMS,
        ...STORE_WRITE_FAILURES,
        'record_unreadable',
        'event_codes_conflict',
        'deadline_exceeded',
        'feedback_not_stored',
      ]),
    },
  }),
  schemas: components,
};

/** The names of the components: an entity that feedback carries, and an event of a kind. */
const entityName = (type: string): string => `feedback_${type}`;
const eventName = (kind: string): string => `interaction_${kind}`;

function feedbackSchema({ entityTypes, eventKinds }: ApiParts): Schema {
  const types = [...entityTypes.keys()];
  const { properties, ...body } = bodySchema(EVENTS_BODY, {
    events: {
      items: choiceOf('type', new Map(Array.from(eventKinds.keys(), (kind) => [kind, eventName(kind)]))),
    },
  });
  return {
    ...body,
    additionalProperties: false,
    properties: {
      request_id: {
        ...ID_OR_NULL,
        description: 'Of the ranking that the events come from. Left out for events of no ranking.',
      },
      ...(properties as Schema),
      ...Object.fromEntries(
        types.map((name) => [name, { anyOf: [schemaRef(entityName(name)), { type: 'null' }] }]),
      ),
    },
    if: given('request_id'),
    // Three properties: the required fields and one entity.
    then: { minProperties: 3 },
    else: {
      ...(types.length === 0 ? {} : { anyOf: types.map((name) => named(name)) }),
      if: types.length === 0 ? {} : { anyOf: types.map((name) => given(name)) },
      then: { properties: { events: { items: { anyOf: [given('event_id'), given('time')] } } } },
      else: { properties: { events: { items: given('event_id') } } },
    },
  };
}

/** The property is there. */
function named(name: string): Schema {
  return { required: [name], properties: { [name]: {} } };
}

/** The property is there, and not null. */
function given(name: string): Schema {
  return { required: [name], properties: { [name]: { not: { type: 'null' } } } };
}

function components({ entityTypes, eventKinds }: ApiParts): (readonly [string, Schema])[] {
  const definitions: Record<string, Schema> = { id: ID_SCHEMA, time: TIME_SCHEMA };
  const entities = Array.from(entityTypes.values(), (type): [string, Schema] => [
    entityName(type.name),
    {
      ...carriedSchema(type, entityTypes, definitions),
      description: `A ${type.name}; attributes of it may be there too.`,
    },
  ]);
  const types = [...entityTypes.keys()];
  return [
    ...Array.from(eventKinds, ([name, kind]) => [eventName(name), eventSchema(name, kind, types)] as const),
    ...entities.flatMap(([name, schema]) => embedComponents(name, { ...schema, $defs: definitions })),
  ];
}

function eventSchema(name: string, { values }: EventKind, types: readonly string[]): Schema {
  return {
    type: 'object',
    required: ['type'],
    additionalProperties: false,
    properties: {
      type: { type: 'string', const: name },
      ...EVENT_PARTS,
      ...Object.fromEntries(
        Array.from(values, ([value, type]) => [
          value,
          { ...valueSchema(type), description: `A value of ${name}.` },
        ]),
      ),
      ...Object.fromEntries(types.map((type) => [type, schemaRef(entityName(type))])),
    },
    // An event is of one entity. `if` rather than `oneOf`: generators of clients make types of the members of `oneOf`.
    ...(types.length === 0
      ? {}
      : { if: { not: { oneOf: types.map((type) => given(type)) } }, then: { not: {} } }),
  };
}

function valueSchema(type: EventValueType): Schema {
  const schema = plainSchema(type);
  return {
    ...schema,
    type: [schema.type, 'null'].flat(),
    ...(type.kind === 'string' ? { pattern: WELL_FORMED } : {}),
  };
}

const EXAMPLE_VALUES: Readonly<Record<EventValueType['kind'], unknown>> = {
  float: 19.9,
  int: 1,
  bool: true,
  string: 'text',
};

/** Fields of the kinds that the example shows, if the project has them. */
const SHOWN_KINDS: Readonly<Record<string, Schema>> = {
  impression: { position: 1 },
  click: { position: 1 },
  order: { quantity: 2 },
};

function exampleBody(types: readonly EntityType[], kinds: ReadonlyMap<string, EventKind>): Schema {
  const named = (name: string): EntityType | undefined => types.find((type) => type.name === name);
  const subject = named('product') ?? types[0];
  const owner = named('user') ?? subject;
  if (subject === undefined || owner === undefined) return { request_id: 'request-1', events: [] };
  const { name, key } = subject;
  const shown = Object.keys(SHOWN_KINDS).filter((kind) => kinds.has(kind));
  return {
    request_id: 'request-1',
    [owner.name]: { [owner.key]: exampleId(owner.name) },
    events: (shown.length > 0 ? shown : [...kinds.keys()].slice(0, 3)).map((kind) => ({
      type: kind,
      [name]: { [key]: exampleId(name) },
      ...SHOWN_KINDS[kind],
      ...Object.fromEntries(
        Array.from(kinds.get(kind)?.values ?? [], ([value, type]) => [value, EXAMPLE_VALUES[type.kind]]),
      ),
    })),
  };
}
