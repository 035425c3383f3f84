import express from 'express';
import type { Express, Request, RequestHandler, Response } from 'express';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { ApiKey } from '../access/api-key.js';
import { allowEntityTypes, authorize, KEY_REQUIRED, refusalOf, type Guarded } from '../access/authorize.js';
import type { MillraceError } from '../../ground/api/errors.js';
import { describeError } from '../../ground/core/describe-error.js';
import { HttpMetrics } from '../metrics/http-metrics.js';
import { Admission, type RouteLoad } from './admission/admission.js';
import { answerHome, linksOf, wantsPage } from './browser-page.js';
import { isSpare } from './connections.js';
import { Audit } from './edge/audit.js';
import type { Audience } from './edge/audience.js';
import { openEdge } from './edge/edge.js';
import { Instance } from './instance.js';
import { answerProblem, refuseMethod, refuseRoute } from './problem.js';
import { BodyMemory } from './bodies/body-memory.js';
import { inviteBody, readBody, type BodyCheck } from './read-body.js';
import { refusalWith } from './refuse-by-head.js';
import { overloaded } from './refuse-overload.js';
import { beginRequest, endWithRequest, requestState } from './request-state.js';
import type { PostRoute, Route, RouteParts } from './route.js';
import { expressPath, parametersIn, RouteTable } from './route-path.js';
import { routesOf } from './routes.js';
import { DEFAULT_LIMITS, DEFAULT_TIMES, type BodyLimits, type HttpServices } from './services.js';

/** What the head of a request says about it, by the path of its route. */
interface Entry extends Guarded {
  /** Undefined for requests that match no route. */
  readonly path: string | undefined;
  readonly load: RouteLoad;
  readonly writes?: true;
}

/**
 * Mounts the routes of the service. A request is admitted or refused by its head, before Express sees it, because most
 * requests are shed during an overload. Then its body is read, and then it waits for its turn.
 * @param audience mounts only the routes for them; by default all routes
 * @param routes by default all routes of the project
 */
export function createHttpApp(
  services: HttpServices,
  audience?: Audience,
  routes: readonly Route[] = routesOf(services.pipelines),
): RequestListener {
  const { logger, usage, tracing } = services;
  const metrics = services.metrics ?? new HttpMetrics();
  const admission = services.admission ?? new Admission();
  const limits = { ...DEFAULT_LIMITS, ...services.limits };
  const times = { ...DEFAULT_TIMES, ...services.times };
  const memory = services.bodyMemory ?? new BodyMemory();
  const edge = services.edge ?? openEdge();
  const mounted = audience === undefined ? routes : routes.filter((route) => isFor(route, audience));
  const parts = { ...services, metrics, routes, instance: services.instance ?? new Instance() };

  const app = createExpress();
  const audit = new Audit(services.auditLog, edge);
  const entries = new RouteTable<Entry>();
  for (const route of literalFirst(mounted)) {
    const limitMs = route.limitMs?.(times) ?? times.requestMs;
    entries.add(route.path, { ...route, load: { class: route.class, limitMs, serviceMs: 0 } });
    mount(app, route, { limits, memory }, parts, admission);
  }
  // Without a key, nobody can find out which routes exist.
  const other: Entry = {
    path: undefined,
    scope: 'any',
    load: { class: 'explain', limitMs: times.requestMs, serviceMs: 0 },
  };
  // A browser cannot send a key. What it sees at `/` without one says nothing of the project.
  const home: Entry = { ...other, scope: 'none' };
  const links = linksOf(mounted, services.keys !== undefined);
  app.use(answerHome(links));
  app.use(refuseRoute(mounted.filter(({ isPrivate }) => isPrivate !== true).map(({ path }) => path)));
  const answerError = answerProblem(logger, links);
  app.use(answerError);

  const fail = (error: unknown, req: IncomingMessage, res: ServerResponse): void => {
    void answerError(error, req as Request, res as Response, () => undefined);
  };
  const request = { admission, metrics, logger, usage, tracing, fail };
  const { keys } = services;
  return (req, res) => {
    const now = performance.now();
    const arrived = admission.arrived(now);
    const path = pathOf(req.url ?? '/');
    const entry = entries.find(path) ?? (path === '/' && wantsPage(req) ? home : other);
    const { load } = entry;
    const isHealth = load.class === 'health';
    const fault = edge.faultOf(req, res, audience ?? 'clients', isHealth);
    const isLast = isSpare(req.socket) && !isHealth;
    const cause = isLast ? 'connections' : admission.refuses(load, arrived, now);
    if (cause !== undefined) {
      admission.shed(load.class, cause);
      metrics.refusedByHead(entry.path, overloaded.status);
      overloaded.send(req, res, isLast);
      return;
    }
    // Browsers send preflight requests without a key.
    const needsKey = keys !== undefined && fault === undefined && !edge.isPreflight(req, res);
    const access = needsKey ? authorize(keys, req.headers.authorization, entry) : undefined;
    if (access?.refusal !== undefined) {
      const refusal = refusalWith(access.refusal);
      metrics.refusedByHead(entry.path, refusal.status);
      if (access.key !== undefined) metrics.keys.used(access.key, load.class, refusal.status);
      refusal.send(req, res);
      return;
    }
    const key = access?.key;
    beginRequest(request, req, res, load, arrived, now, key);
    if (entry.writes === true && req.method === 'POST') audit.watch(req, res, entry.path ?? '');
    const proceed = (refusal: MillraceError | undefined): void => {
      if (refusal !== undefined) fail(refusal, req, res);
      else if (!edge.answersPreflight(req, res)) app(req as Request, res as Response, giveUp(res, logger));
    };
    if (fault !== undefined || isHealth || !edge.limits(key)) proceed(fault);
    else edge.limit(req, res, key).then(proceed, (error: unknown) => fail(error, req, res));
  };
}

function isFor({ audience: whose = 'clients' }: Route, audience: Audience): boolean {
  return whose === 'everyone' || whose === audience;
}

/** The path without its query and without a trailing slash, as routes are mounted. */
function pathOf(url: string): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Handles an error that no error handler answered. Express's own last handler would answer with a stack. */
function giveUp(res: ServerResponse, logger: Logger): (error?: unknown) => void {
  return (error) => {
    logger.error({ error: describeError(error) }, 'a request could not be answered');
    res.destroy();
  };
}

function createExpress(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.set('query parser', false);
  return app;
}

/** The memory limits for the bodies of requests: of each body, and of all bodies together. */
interface BodyBounds {
  readonly limits: BodyLimits;
  readonly memory: BodyMemory;
}

function mount(
  app: Express,
  route: Route,
  { limits, memory }: BodyBounds,
  parts: RouteParts,
  admission: Admission,
): void {
  const mounted = app.route(expressPath(route.path)).all(matched(route, parts.keys !== undefined));
  const handler = route.handler(parts);
  const steps = route.class === 'health' ? [handler] : [waitForTurn(admission), handler];
  if (route.method === 'GET') mounted.get(...steps).all(refuseMethod(['GET', 'HEAD']));
  else {
    const limit = limits[route.body.limit];
    const body = readBody(limit, memory, route.class === 'ranking', entityTypeCheck(route, parts));
    mounted.post(inviteBody(limit), body, ...steps).all(refuseMethod(['POST']));
  }
}

/** Express takes the first path that matches, and a literal path wins over one with parameters. */
function literalFirst(routes: readonly Route[]): readonly Route[] {
  const isLiteral = ({ path }: Route): boolean => parametersIn(path).length === 0;
  return [...routes.filter(isLiteral), ...routes.filter((route) => !isLiteral(route))];
}

/**
 * Records the route that matches. Express and `pathOf` may read an unusual path differently, so the key is checked
 * again for the route that in fact answers.
 */
function matched(route: Route, needsKey: boolean): RequestHandler {
  return (_req, res, next) => {
    const state = requestState(res);
    state.route = route.path;
    next(needsKey && route.scope !== 'none' ? missingRight(state.key, route) : undefined);
  };
}

function missingRight(key: ApiKey | undefined, route: Route): MillraceError | undefined {
  return key === undefined ? KEY_REQUIRED : refusalOf(key, route);
}

/** Returns the checks of bodies for keys that may use only some entity types. */
function entityTypeCheck(route: PostRoute, parts: RouteParts): (res: Response) => BodyCheck | undefined {
  const { entityTypes } = route.body;
  return (res) => {
    const allowed = requestState(res).key?.entityTypes;
    if (allowed === undefined || entityTypes === undefined) return undefined;
    return async (body) => {
      allowEntityTypes(allowed, await entityTypes(body, parts));
    };
  };
}

function waitForTurn(admission: Admission): RequestHandler {
  return (_req, res, next) => {
    const state = requestState(res);
    const span = state.span?.start('queue', 'queue');
    if (span === undefined) {
      admission.takeTurn(state, next);
      return;
    }
    admission.takeTurn(state, (error) => {
      if (error !== undefined) span.fail(error.code);
      span.end();
      next(error);
    });
    endWithRequest(span, res);
  };
}
