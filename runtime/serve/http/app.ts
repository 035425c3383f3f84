import express from 'express';
import type { Express, Request, Response } from 'express';
import type { RequestListener } from 'node:http';
import type { ApiKey } from '../access/api-key.js';
import { allowEntityTypes } from '../access/authorize.js';
import { within } from '../../project/tracing/trace-span.js';
import { HttpMetrics } from '../metrics/http-metrics.js';
import { Admission } from './admission/admission.js';
import { answerHome, linksOf, wantsPage } from './browser-page.js';
import { BodyMemory } from './bodies/body-memory.js';
import { dispatch, type Entry } from './dispatch.js';
import { Audit } from './edge/audit.js';
import type { Audience } from './edge/audience.js';
import { openEdge } from './edge/edge.js';
import type { BodyCheck, Exchange } from './exchange.js';
import { Instance } from './instance.js';
import { answerProblem, unknownRoute } from './problem.js';
import { faultOfBody, readBody } from './read-body.js';
import type { Handler, PostRoute, Route, RouteParts } from './route.js';
import { RouteTable } from './route-path.js';
import { routesOf } from './routes.js';
import { asksPreview, previewPath } from './routes/preview.js';
import { refuseOther } from './routes/front.js';
import { DEFAULT_LIMITS, DEFAULT_TIMES, type BodyLimits, type HttpServices } from './services.js';

const READS = ['GET', 'HEAD'];
const POSTS = ['POST'];
/** Of this service, also if a front answers at `/`. */
const OWN_PATHS = '/api/';

/**
 * Makes the table of paths, by which all requests are dispatched. Express serves the pages and the files for browsers.
 * @param audience mounts only the routes for them; by default all routes
 * @param routes by default all routes of the project
 */
export function createHttpApp(
  services: HttpServices,
  audience?: Audience,
  routes: readonly Route[] = routesOf(services.pipelines, services.fronts, services.workbench),
): RequestListener {
  const { logger, usage, tracing, keys } = services;
  const metrics = services.metrics ?? new HttpMetrics();
  const admission = services.admission ?? new Admission();
  const times = { ...DEFAULT_TIMES, ...services.times };
  const limits = { ...DEFAULT_LIMITS, ...services.limits };
  const edge = services.edge ?? openEdge();
  const mounted = audience === undefined ? routes : routes.filter((route) => isFor(route, audience));
  const links = linksOf(mounted, keys !== undefined);
  const pages = createExpress();
  const answerOf = answersOf(pages, admission, limits, {
    ...services,
    metrics,
    routes,
    instance: services.instance ?? new Instance(),
  });

  const table = new RouteTable<Entry>();
  for (const route of mounted) {
    const load = { class: route.class, limitMs: route.limitMs?.(times) ?? times.requestMs, serviceMs: 0 };
    const methods = route.method === 'GET' ? READS : POSTS;
    const faultOf = 'body' in route ? faultOfBody(limits[route.body.limit], route.body.isLines) : undefined;
    const entry: Entry = { ...route, load, methods, faultOf, answer: answerOf(route) };
    const posts = table.find(route.path);
    table.add(route.path, posts?.path === route.path ? eitherOf(posts, entry) : entry);
    if ('page' in route) pages.get(route.path, route.page(services));
  }
  // Without a key, nobody can find out which routes exist.
  const other: Entry = {
    path: undefined,
    scope: 'any',
    load: { class: 'explain', limitMs: times.requestMs, serviceMs: 0 },
    methods: undefined,
    faultOf: unknownRoute(mounted.filter(({ isPrivate }) => isPrivate !== true).map(({ path }) => path)),
    answer: answerHome(links),
  };
  // A browser cannot send a key. What it sees at `/` without one says nothing of the project.
  const home: Entry = { ...other, scope: 'none', faultOf: undefined };
  const refusing = (services.fronts ?? []).map((front) => ({
    below: `${front.definition.path.value}/`,
    entry: {
      ...other,
      scope: front.definition.auth === 'forward' ? ('none' as const) : other.scope,
      faultOf: undefined,
      answer: () => refuseOther(front),
    },
  }));
  const refusingAt = (path: string): Entry | undefined =>
    refusing.find(({ below }) => path.startsWith(below) && !path.startsWith(OWN_PATHS))?.entry;
  return dispatch({
    admission,
    metrics,
    logger,
    usage,
    tracing,
    edge,
    keys,
    sessions: services.sessions,
    audience: audience ?? 'clients',
    audit: new Audit(services.auditLog, edge),
    fail: answerProblem(logger, links),
    find: (path, req) =>
      (req.url?.includes('?') === true && asksPreview(req.url) ? table.find(previewPath(path)) : undefined) ??
      table.find(path) ??
      refusingAt(path) ??
      (path === '/' && wantsPage(req) ? home : other),
  });
}

/** One path for two routes: one that takes a body, and one that does not. */
function eitherOf(posts: Entry, gets: Entry): Entry {
  if (posts.scope !== gets.scope) throw new Error(`the routes of ${posts.path ?? ''} need different scopes`);
  const entryOf = (method: string | undefined): Entry => (READS.includes(method ?? '') ? gets : posts);
  return {
    ...posts,
    methods: [...READS, ...POSTS],
    faultOf: (req, path) => entryOf(req.method).faultOf?.(req, path),
    answer: (exchange) => entryOf(exchange.req.method).answer(exchange),
  };
}

function isFor({ audience: whose = 'clients' }: Route, audience: Audience): boolean {
  return whose === 'everyone' || whose === audience;
}

export function createExpress(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.set('query parser', false);
  return app;
}

export function throughExpress(app: Express): Handler {
  return ({ req, res }) =>
    new Promise((_resolve, reject) => {
      app(req as Request, res as Response, reject);
    });
}

/** Returns what puts the steps of a route together: its body, its turn, its handler. */
function answersOf(
  pages: Express,
  admission: Admission,
  limits: BodyLimits,
  parts: RouteParts,
): (route: Route) => Handler {
  const memory = parts.bodyMemory ?? new BodyMemory();
  return (route) => {
    const handler = 'page' in route ? throughExpress(pages) : route.handler(parts);
    if (route.class === 'health') return handler;
    if (route.method === 'GET')
      return async (exchange) => {
        await takeTurn(admission, exchange);
        await handler(exchange);
      };
    const limit = limits[route.body.limit];
    return async (exchange) => {
      await readBody(exchange, limit, memory);
      exchange.checkBody = entityTypeCheck(exchange.key, route, parts);
      await takeTurn(admission, exchange);
      await handler(exchange);
    };
  };
}

/** Returns the check of bodies for a key that may use only some entity types. */
function entityTypeCheck(
  key: ApiKey | undefined,
  { body: { entityTypes } }: PostRoute,
  parts: RouteParts,
): BodyCheck | undefined {
  const allowed = key?.entityTypes;
  if (allowed === undefined || entityTypes === undefined) return undefined;
  return async (body) => {
    allowEntityTypes(allowed, await entityTypes(body, parts));
  };
}

/** Waits until it is the turn of a request to use the CPU. It never ends if the request is over before. */
function takeTurn(admission: Admission, exchange: Exchange): Promise<void> {
  const span = exchange.span?.start('queue', 'queue');
  const turn = new Promise<void>((resolve, reject) => {
    admission.takeTurn(exchange, (error) => {
      if (error === undefined) resolve();
      else reject(error);
    });
  });
  if (span === undefined) return turn;
  exchange.endWith(span);
  return within(span, () => turn);
}
