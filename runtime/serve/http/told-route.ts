import type { ErrorCode } from '../../ground/api/error-codes.js';
import type { Asking } from '../compare/comparisons.js';
import { hasScope } from '../access/scopes.js';
import { noteWritten } from './edge/audit.js';
import type { Exchange } from './exchange.js';
import { withBody } from './handle-body.js';
import { problemResponses } from './openapi/problems.js';
import { jsonAnswer, oneOf, type Schema } from './openapi/types.js';
import { sendLargeJson } from './respond.js';
import type { ApiParts, PostRoute } from './route.js';
import type { HttpServices } from './services.js';

/** What OpenAPI says about a route of a table. The body has one example, and the route has one answer. */
export interface Described {
  readonly operation: string;
  readonly summary: string;
  readonly description: string;
  /** Undefined if the project has nothing to name. */
  readonly example: (api: ApiParts) => object | undefined;
  readonly answer: Schema;
  readonly problems: readonly ErrorCode[];
}

/** A route of a table, with what it does. */
export interface Told extends Described {
  readonly schema: (api: ApiParts) => Schema;
  readonly run: (services: HttpServices, body: unknown, who: Asking) => object | Promise<object>;
}

/** What the routes of a table have in common. */
export interface ToldWhere extends Pick<PostRoute, 'scope' | 'audience' | 'class' | 'writes'> {
  readonly path: string;
  readonly tag: string;
  readonly limit: PostRoute['body']['limit'];
}

/** Makes a route of what a table tells. */
export function toldRoute(
  { path, tag, limit, ...where }: ToldWhere,
  { operation, summary, description, schema, example, answer, problems, run }: Told,
): PostRoute {
  return {
    ...where,
    path,
    method: 'POST',
    body: {
      limit,
      entityTypes: undefined,
      schema,
      examples: (api) => {
        const value = example(api);
        return value === undefined ? {} : { [path.slice(path.lastIndexOf('/') + 1)]: { summary, value } };
      },
    },
    handler: (services) => async (exchange) => {
      const who = whoOf(exchange);
      const answered = await withBody(exchange, async (body) => await run(services, body, who));
      if (where.writes === true) noteWritten(exchange, answered);
      await sendLargeJson(exchange.res, answered);
    },
    operation: () => ({
      operationId: operation,
      tags: [tag],
      summary,
      description,
      responses: { 200: jsonAnswer('Done.', answer), ...problemResponses([...new Set(problems)]) },
    }),
  };
}

export const whoOf = ({ key }: Exchange): Asking => ({
  name: key?.name,
  pipelines: key?.pipelines,
  mayPreview: key === undefined || hasScope(key.scopes, 'preview'),
});

export const rankingNames = ({ pipelines }: ApiParts): readonly string[] =>
  pipelines.filter(({ task }) => task === 'rank').map(({ name }) => name);

/** The name of a pipeline that ranks. */
export const rankingName = (api: ApiParts): Schema => oneOf(rankingNames(api));
