import { MillraceError } from '../../../ground/api/errors.js';
import type { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import type { Pipeline } from '../../../request/pipeline/types.js';
import type { CompiledFront } from '../../fronts/open-front.js';
import type { Exchange } from '../exchange.js';
import { FrontSearch } from '../front-search.js';
import { wholeBody } from '../handle-body.js';
import { problemResponses } from '../openapi/problems.js';
import { plainJson, type Operation } from '../openapi/types.js';
import type { GetRoute, PostRoute, Route } from '../route.js';
import { overlap, parametersIn } from '../route-path.js';

/** More time than the engine and the pipeline have, so that their limits are over first. */
const MARGIN_MS = 1000;
/** The routes of a front. */
export function frontRoutes(front: CompiledFront, pipeline: Pipeline): readonly Route[] {
  const { searches, multiSearches } = front.engine;
  const { pass } = front.definition;
  return [
    ...searches.map((path) => searchRoute(front, pipeline, path, 'one')),
    ...multiSearches.map((path) => searchRoute(front, pipeline, path, 'many')),
    ...['', ...pass.map(({ value }) => value)].map((path) => readRoute(front, pipeline, path)),
  ];
}

/** Checks that no read takes the requests of a search, and that no two reads with parameters have the same requests. */
export function checkPass({ definition, engine }: CompiledFront, diagnostics: Diagnostics): void {
  const hasParameters = (path: string): boolean => parametersIn(path).length > 0;
  const taken = [...engine.searches, ...engine.multiSearches].filter(hasParameters);
  const searches = taken.length;
  for (const { value, at } of definition.pass) {
    const rivals = hasParameters(value) ? taken : taken.slice(0, searches);
    const rival = rivals.find((path) => path !== value && overlap(path.split('/'), value.split('/')));
    if (rival !== undefined)
      diagnostics.error(
        'duplicate_route',
        at,
        `\`${value}\` matches requests of \`${rival}\``,
        `write its parts out, as in /_cat/indices, or exactly ${rival}`,
      );
    if (hasParameters(value)) taken.push(value);
  }
}

/** @throws MillraceError not_passed: for what is below the path of a front and is none of its routes */
export function refuseOther({ definition: { name } }: CompiledFront): never {
  throw new MillraceError(
    'not_passed',
    `the front ${name} takes searches, and the reads that its \`pass:\` names`,
  );
}

const commonOf = ({ definition }: CompiledFront, { name, limitMs }: Pipeline, path: string) =>
  ({
    path: `${definition.path.value}${path}` || '/',
    scope: definition.auth === 'forward' ? 'none' : 'rank',
    pipeline: name,
    class: 'ranking',
    limitMs: () => definition.timeoutMs + limitMs + MARGIN_MS,
  }) as const;

function operationOf(
  { definition: { name } }: CompiledFront,
  path: string,
  told: Pick<Operation, 'summary' | 'description'>,
): Operation {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return {
    operationId: ['front', name, ...words].join('_'),
    tags: ['Fronts'],
    ...told,
    parameters: parametersIn(path).map((one) => ({
      name: one,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    responses: {
      200: plainJson('The answer of the engine.', { type: 'object' }),
      ...problemResponses(['not_passed', 'engine_failed', 'overloaded']),
    },
  };
}

function searchRoute(front: CompiledFront, pipeline: Pipeline, path: string, how: 'one' | 'many'): PostRoute {
  const { name, window } = front.definition;
  return {
    ...commonOf(front, pipeline, path),
    method: 'POST',
    body: {
      limit: 'rankingBytes',
      ...(how === 'many' && { isLines: true }),
      entityTypes: undefined,
      schema: () => ({ type: 'object' }),
      examples: () => ({ search: { summary: 'a search', value: { size: front.engine.defaultSize } } }),
    },
    handler: (parts) => {
      const search = new FrontSearch(front, pipeline, parts);
      return (exchange) => {
        const sent = { bytes: wholeBody(exchange), query: queryOf(exchange) };
        return search[how](exchange, enginePath(front, path, exchange), sent);
      };
    },
    operation: () =>
      operationOf(front, path, {
        summary: `Search through the front ${name}`,
        description: `Takes the body of the engine, and answers as the engine does. The first ${window} hits are in the order of the pipeline ${pipeline.name}.`,
      }),
  };
}

/** A read that is forwarded as it is. */
function readRoute(front: CompiledFront, pipeline: Pipeline, path: string): GetRoute {
  return {
    ...commonOf(front, pipeline, path),
    method: 'GET',
    handler: (parts) => {
      const search = new FrontSearch(front, pipeline, parts);
      return (exchange) => {
        const { 'content-length': length = '0', 'transfer-encoding': coding } = exchange.req.headers;
        if (length !== '0' || coding !== undefined)
          throw new MillraceError('not_passed', 'a read has no body here; send a search with POST');
        return search.read(exchange, enginePath(front, path, exchange), queryOf(exchange));
      };
    },
    operation: () =>
      operationOf(front, path, {
        summary: `Read through the front ${front.definition.name}`,
        description: 'Is forwarded to the engine as it is.',
      }),
  };
}

function queryOf({ req: { url = '' } }: Exchange): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
}

/** A part of a path that would lead elsewhere, also at a server that decodes `%2F`. */
const DOTS = /(^|[/\\])\.\.?($|[/\\])/;

/** The path at the engine. @throws MillraceError not_passed if a part of it would lead elsewhere */
function enginePath(front: CompiledFront, path: string, { params = {} }: Exchange): string {
  return (
    path.replaceAll(/:([a-z][a-z0-9_]*)/g, (_, name: string) => {
      const value = params[name] ?? '';
      return DOTS.test(value) ? refuseOther(front) : encodeURIComponent(value);
    }) || '/'
  );
}
