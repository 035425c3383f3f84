import { bodyOfAddress, type AddressField } from '../../../request/pipeline/request/address-fields.js';
import type { Pipeline } from '../../../request/pipeline/types.js';
import type { GetRoute } from '../route.js';
import { answerOperation, rankingOf } from './rank.js';

/**
 * Ranks what a pipeline finds itself, for a query in the address: `GET /api/v1/search?q=trail+shoe`. It has the path of the
 * pipeline's own route. Its anchor in the reference is `#operation/search_<pipeline>`.
 */
export function search(pipeline: Pipeline, fields: readonly AddressField[]): GetRoute {
  const { name } = pipeline;
  return {
    path: pipeline.route,
    scope: 'rank',
    pipeline: name,
    method: 'GET',
    class: 'ranking',
    limitMs: () => pipeline.limitMs,
    handler: (parts) => {
      const rank = rankingOf(pipeline, parts);
      return (exchange) => rank(exchange, bodyOfAddress(exchange.req.url ?? '', fields));
    },
    operation: () => {
      const { parameters, ...operation } = answerOperation(pipeline);
      return {
        ...operation,
        operationId: `search_${name}`,
        summary: `Search with the pipeline ${name}`,
        description:
          'Finds candidates for the query, ranks them and answers one page of them, best first. The parameters are the ' +
          'fields of the body of POST; an entity is given by its id.',
        parameters: [
          ...fields.map(({ parameter, type, optional }) => ({
            name: parameter,
            in: 'query',
            required: !optional,
            schema: { type },
          })),
          ...parameters,
        ],
      };
    },
  };
}
