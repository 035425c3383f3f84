import type { RuleComponent } from '../../../ground/api/component.js';
import type { Plan } from '../../compile/plan.js';
import type { ExpressionType } from '../../../language/expression/environment.js';
import { nullable, reference, type Schema } from '../request/schema-parts.js';
import { EVENT_DEFINITIONS } from './event-schemas.js';

/** JSON Schema (2020-12) of the answer of a pipeline's route. */
export function answerSchema({ definition, candidateType, answer, steps }: Plan): Schema {
  if (definition.task === 'rank')
    return steps.some(({ component }) => (component as Partial<RuleComponent>).promotes === true)
      ? PROMOTING
      : RANKING;
  const values = answer.values.map(({ name, type }): [string, Schema] => [name, answeredSchema(type)]);
  const required = [candidateType.key, 'score', ...values.map(([name]) => name)];
  return {
    type: 'object',
    required,
    properties: {
      [candidateType.key]: { type: 'string', description: 'The id of the scored entity.' },
      score: { type: ['number', 'null'], description: 'Null if no step set it.' },
      ...Object.fromEntries(values),
      events: EVENTS,
    },
    additionalProperties: false,
    $defs: EVENT_DEFINITIONS,
  };
}

/** The value of an expression; null if it is absent for any reason. */
function answeredSchema(type: ExpressionType): Schema {
  if (type.kind === 'list') return nullable({ type: 'array', items: answeredSchema(type.of) });
  if (type.kind === 'vector')
    return nullable({ type: 'array', items: { type: 'number' }, minItems: type.size, maxItems: type.size });
  if (type.kind === 'time') return { type: ['number', 'null'], description: 'Epoch milliseconds.' };
  const name = type.kind === 'bool' ? 'boolean' : type.kind === 'number' ? 'number' : 'string';
  return { type: [name, 'null'] };
}

const EVENTS: Schema = {
  type: 'array',
  items: reference('event'),
  description: 'Only with include_events.',
};

const RANKED = {
  candidate_id: { type: 'string' },
  ranked_score: { type: 'number', description: 'Never increases from one rank to the next.' },
};

const ranking = (ranked: Schema, more: Schema, definitions: Schema): Schema => ({
  type: 'object',
  required: ['ranked_candidates'],
  properties: {
    ranked_candidates: { type: 'array', description: 'One page, best first.', items: reference('ranked') },
    ...more,
    events: EVENTS,
  },
  additionalProperties: false,
  $defs: {
    ...EVENT_DEFINITIONS,
    ranked: {
      type: 'object',
      description: 'A candidate of the page.',
      required: ['candidate_id', 'ranked_score'],
      additionalProperties: false,
      properties: ranked,
    },
    ...definitions,
  },
});

const RANKING = ranking(RANKED, {}, {});

/** Of a pipeline with rules of merchandisers. */
const PROMOTING = ranking(
  { ...RANKED, sponsored: { type: 'string', description: 'The label of a paid place; only there.' } },
  {
    content: {
      type: 'array',
      description: 'What the shop shows beside the candidates; only if there is some.',
      items: reference('content'),
    },
  },
  {
    content: {
      type: 'object',
      required: ['place'],
      additionalProperties: false,
      properties: {
        place: { type: 'string', description: 'Where to show it.' },
        image: { type: 'string', description: 'An address, or a path of the shop.' },
        link: { type: 'string', description: 'An address, or a path of the shop.' },
        text: { type: 'string' },
      },
    },
  },
);
