import express from 'express';
import type { Express, Request, RequestHandler, Response } from 'express';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { MillraceError } from '../api/errors.js';
import { describeError } from '../core/describe-error.js';
import { HttpMetrics } from '../metrics/http-metrics.js';
import { Admission, type RouteLoad } from './admission/admission.js';
import { isSpare } from './connections.js';
import { Audit } from './edge/audit.js';
import type { Audience } from './edge/audience.js';
import { openEdge } from './edge/edge.js';
import { inviteBody } from './invite-body.js';
import { Instance } from './instance.js';
import { answerProblem, refuseMethod, refuseRoute } from './problem.js';
import { BodyMemory } from './bodies/body-memory.js';
import { readBody } from './read-body.js';
import { refuseOverload } from './refuse-overload.js';
import { beginRequest, requestState } from './request-state.js';
import type { Route, RouteParts } from './route.js';
import { routesOf } from './routes.js';
import { DEFAULT_LIMITS, DEFAULT_TIMES, type BodyLimits, type HttpServices } from './services.js';

/**
 * Mounts the routes of the service. A request is admitted or refused by its head, before Express sees it, because most
 * requests are shed during an overload. Then its body is read, and then it waits for its turn.
 * @param audience mounts only the routes for them; by default all routes
 */
export function createHttpApp(services: HttpServices, audience?: Audience): RequestListener {
  const { logger, usage } = services;
  const metrics = services.metrics ?? new HttpMetrics();
  const admission = services.admission ?? new Admission();
  const limits = { ...DEFAULT_LIMITS, ...services.limits };
  const times = { ...DEFAULT_TIMES, ...services.times };
  const memory = services.bodyMemory ?? new BodyMemory();
  const edge = services.edge ?? openEdge();
  const routes = routesOf(services.pipelines);
  const mounted = audience === undefined ? routes : routes.filter((route) => isFor(route, audience));
  const parts = { ...services, metrics, routes, instance: services.instance ?? new Instance() };

  const app = createExpress();
  const bounds = { limits, memory };
  const audit = new Audit(logger, edge);
  const writes = new Set(mounted.flatMap((route) => ('writes' in route ? [route.path] : [])));
  const loads = new Map<string, RouteLoad>();
  for (const route of mounted) {
    const limitMs = route.limitMs?.(times) ?? times.requestMs;
    const load: RouteLoad = { class: route.class, limitMs, serviceMs: 0 };
    loads.set(route.path, load);
    mount(app, route, bounds, parts, admission);
  }
  /** The load of requests that match no route. */
  const otherLoad: RouteLoad = { class: 'explain', limitMs: times.requestMs, serviceMs: 0 };
  app.use(refuseRoute(mounted.filter(({ isPrivate }) => isPrivate !== true).map(({ path }) => path)));
  const answerError = answerProblem(logger);
  app.use(answerError);

  const fail = (error: unknown, req: IncomingMessage, res: ServerResponse): void => {
    void answerError(error, req as Request, res as Response, () => undefined);
  };
  const request = { admission, metrics, logger, usage, fail };
  return (req, res) => {
    const now = performance.now();
    const arrived = admission.arrived(now);
    const path = pathOf(req.url ?? '/');
    const load = loads.get(path) ?? otherLoad;
    const isHealth = load.class === 'health';
    const fault = edge.faultOf(req, res, audience ?? 'clients', isHealth);
    const isLast = isSpare(req.socket) && !isHealth;
    const cause = isLast ? 'connections' : admission.refuses(load, arrived, now);
    if (cause !== undefined) {
      admission.shed(load.class, cause);
      metrics.shed(load === otherLoad ? undefined : path);
      refuseOverload(req, res, isLast);
      return;
    }
    const { key } = beginRequest(request, req, res, load, arrived, now);
    if (writes.has(path) && req.method === 'POST') audit.watch(req, res, path);
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
  const mounted = app.route(literalPath(route.path)).all(matched(route.path));
  const handler = route.handler(parts);
  const steps = route.class === 'health' ? [handler] : [waitForTurn(admission), handler];
  if (route.method === 'GET') mounted.get(...steps).all(refuseMethod(['GET', 'HEAD']));
  else {
    const limit = limits[route.body.limit];
    const body = readBody(limit, memory, route.class === 'ranking');
    mounted.post(inviteBody(limit), body, ...steps).all(refuseMethod(['POST']));
  }
}

/** Escapes the pattern characters of a path, so that Express matches it literally. */
function literalPath(path: string): string {
  return path.replace(/[{}()[\]+?!:*\\]/g, '\\$&');
}

function matched(path: string): RequestHandler {
  return (_req, res, next) => {
    requestState(res).route = path;
    next();
  };
}

function waitForTurn(admission: Admission): RequestHandler {
  return (_req, res, next) => {
    admission.takeTurn(requestState(res), next);
  };
}
