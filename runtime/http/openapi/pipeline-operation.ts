import type { Pipeline } from '../../pipeline/types.js';
import { exampleOf } from './example.js';
import { BODY_PROBLEMS, problemResponses } from './problems.js';
import { jsonAnswer, jsonBody, schemaRef, type Operation } from './types.js';

export const requestSchemaName = (pipeline: string): string => `request_${pipeline}`;
export const answerSchemaName = (pipeline: string): string => `answer_${pipeline}`;

const TOLD = {
  rank: {
    summary: 'Rank',
    description:
      'Fills the entities of the request from the index, fetches features, scores the candidates and answers one page of ' +
      'them, best first.',
    answer: 'One page.',
  },
  score: {
    summary: 'Score',
    description: 'Fills the entities of the request from the index, fetches features and scores one entity.',
    answer: 'Its score.',
  },
};

/**
 * The operation of a pipeline's route. Its anchor in the reference is `#operation/rank_<pipeline>`, or
 * `#operation/score_<pipeline>`.
 */
export function pipelineOperation({ name, task, requestSchema, answerSchema }: Pipeline): Operation {
  const { summary, description, answer } = TOLD[task];
  return {
    operationId: `${task}_${name}`,
    tags: ['Ranking'],
    summary: `${summary} with the pipeline ${name}`,
    description,
    requestBody: jsonBody(schemaRef(requestSchemaName(name)), {
      request: { summary: 'ids alone', value: exampleOf(requestSchema) },
    }),
    responses: {
      200: jsonAnswer(answer, schemaRef(answerSchemaName(name)), exampleOf(answerSchema), [
        'Millrace-Degraded',
      ]),
      ...problemResponses([...BODY_PROBLEMS, 'store_unavailable', 'deadline_exceeded', 'component_failed']),
    },
  };
}
