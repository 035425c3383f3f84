import type { Pipeline } from '../../pipeline/types.js';
import { exampleOf } from './example.js';
import { BODY_PROBLEMS, problemResponses } from './problems.js';
import { jsonAnswer, jsonBody, schemaRef, type Operation } from './types.js';

export const requestSchemaName = (pipeline: string): string => `request_${pipeline}`;
export const answerSchemaName = (pipeline: string): string => `answer_${pipeline}`;

/** The operation of a pipeline's route. Its anchor in the reference is `#operation/rank_<pipeline>`. */
export function rankOperation({ name, requestSchema, answerSchema }: Pipeline): Operation {
  return {
    operationId: `rank_${name}`,
    tags: ['Ranking'],
    summary: `Rank with the pipeline ${name}`,
    description:
      'Fills the entities of the request from the index, fetches features, scores the candidates and answers one page of ' +
      'them, best first.',
    requestBody: jsonBody(schemaRef(requestSchemaName(name)), {
      request: { summary: 'ids alone', value: exampleOf(requestSchema) },
    }),
    responses: {
      200: jsonAnswer('One page.', schemaRef(answerSchemaName(name)), exampleOf(answerSchema)),
      ...problemResponses([...BODY_PROBLEMS, 'store_unavailable', 'deadline_exceeded', 'component_failed']),
    },
  };
}
