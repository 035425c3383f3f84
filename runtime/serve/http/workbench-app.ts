import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type { HttpMetrics } from '../metrics/http-metrics.js';
import type { Admission } from './admission/admission.js';
import { createExpress, throughExpress } from './app.js';
import { answerHome, linksOf, wantsPage } from './browser-page.js';
import type { BodyMemory } from './bodies/body-memory.js';
import { dispatch, type Entry } from './dispatch.js';
import { Audit } from './edge/audit.js';
import type { Edge } from './edge/edge.js';
import { EXPLAIN_SUFFIX } from './explain-path.js';
import type { Forwarder } from './forward.js';
import { answerProblem, unknownRoute } from './problem.js';
import type { Exchange } from './exchange.js';
import type { PageRoute, Route, RouteParts } from './route.js';
import { sendJson } from './respond.js';
import { healthz } from './routes/health.js';
import { COMPARISONS } from './routes/comparisons.js';
import { workbenchProject, type WorkbenchProject } from './routes/workbench.js';
import { WORKSHOP } from './routes/workshop.js';
import { asksPreview } from './routes/preview.js';
import { faultOfBody, readBody } from './read-body.js';
import { RouteTable } from './route-path.js';
import { isOfWorkbench, routesOf, SERVICE_ROUTES } from './routes.js';
import { DEFAULT_TIMES, type HttpServices } from './services.js';

export interface WorkbenchParts extends Pick<HttpServices, 'imageHosts'> {
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
  readonly admission: Admission;
  readonly edge: Edge;
  readonly service: Forwarder;
  readonly compares: RemoteComparing;
  /** The longest body that is passed on, in bytes. */
  readonly bodyBytes: number;
  readonly bodyMemory: BodyMemory;
}

/** What this process does itself, for the person who sends a request. */
export interface RemoteComparing {
  /** @throws MillraceError as the service answers */
  servicesFor(exchange: Exchange): Promise<Pick<HttpServices, 'comparisons' | 'workshop'>>;
  /** The state of the project, as the service answers it and with what this process does. */
  project(exchange: Exchange): Promise<WorkbenchProject>;
}

/** A part of a path that a server behind a proxy could take as another path. */
const DOTS = /(^|[/\\]|%2f|%5c)(\.|%2e){1,2}($|[/\\]|%2f|%5c)/i;
const READS = ['GET', 'HEAD'];

const isPage = (route: Route): route is PageRoute => 'page' in route && isOfWorkbench(route);

const isPassedOn = (route: Route): boolean =>
  !isPage(route) && route.audience !== undefined && route.class !== 'health';

/**
 * The workbench of a service that another process runs. The pages come from here; what they ask for is passed on, except
 * comparisons, logged requests and tests, for which the service only ranks. Hosts and
 * origins are checked here, keys and sessions by the service. Rankings, uploads and feedback are not passed on.
 */
export function createWorkbenchApp(parts: WorkbenchParts): RequestListener {
  const { logger, metrics, admission, edge, service, compares, bodyBytes, bodyMemory } = parts;
  const routes = routesOf([], [], 'only');
  const pages = routes.filter(isPage);
  const express = createExpress();
  for (const { path, page } of pages) express.get(path, page(parts));
  const links = linksOf(pages, true);
  const limitMs = DEFAULT_TIMES.requestMs;
  const entry = (path: string | undefined, more: Pick<Entry, 'methods' | 'answer'>): Entry => ({
    ...{ path, scope: 'none', load: { class: 'explain', limitMs, serviceMs: 0 }, faultOf: undefined },
    ...more,
  });
  const table = new Map(
    pages.map(({ path }) => [path, entry(path, { methods: READS, answer: throughExpress(express) })]),
  );
  table.set(healthz.path, {
    ...entry(healthz.path, { methods: READS, answer: ({ res }) => sendJson(res, 200, { status: 'OK' }) }),
    load: { class: 'health', limitMs, serviceMs: 0 },
  });
  const passed = new Set(routes.filter(isPassedOn).map(({ path }) => path));
  const others = new RouteTable<true>();
  for (const { path } of SERVICE_ROUTES) if (!passed.has(path)) others.add(path, true);
  const faultOfPost = faultOfBody(bodyBytes);
  const pass: Entry = {
    ...entry('(passed on)', {
      methods: [...READS, 'POST'],
      answer: async (exchange) => {
        if (exchange.req.method === 'POST') await readBody(exchange, bodyBytes, bodyMemory);
        await service.pass(exchange);
      },
    }),
    faultOf: (req) => (req.method === 'POST' ? faultOfPost(req) : undefined),
  };
  for (const route of [...COMPARISONS, ...WORKSHOP]) {
    const isPost = route.method === 'POST';
    table.set(route.path, {
      ...entry(route.path, {
        methods: isPost ? ['POST'] : READS,
        answer: async (exchange) => {
          if (isPost) await readBody(exchange, bodyBytes, bodyMemory);
          // These routes use nothing else.
          const services = (await compares.servicesFor(exchange)) as RouteParts;
          if (!('page' in route)) await route.handler(services)(exchange);
        },
      }),
      faultOf: isPost ? faultOfPost : undefined,
    });
  }
  table.set(
    workbenchProject.path,
    entry(workbenchProject.path, {
      methods: READS,
      answer: async (exchange) => sendJson(exchange.res, 200, await compares.project(exchange)),
    }),
  );
  const home = entry('/', { methods: READS, answer: answerHome(links) });
  const other: Entry = {
    ...entry(undefined, { methods: undefined, answer: answerHome(links) }),
    faultOf: unknownRoute([...table.keys(), ...passed]),
  };
  const isPassed = (path: string, url: string): boolean =>
    passed.has(path) ||
    // What the service does with other paths depends on its project.
    ((path.endsWith(EXPLAIN_SUFFIX) || asksPreview(url)) &&
      others.find(path) === undefined &&
      !DOTS.test(path));
  return dispatch({
    ...{ logger, metrics, admission, edge, keys: undefined, sessions: undefined, audience: 'operators' },
    audit: new Audit(undefined, edge),
    fail: answerProblem(logger, links),
    find: (path, req) =>
      table.get(path) ??
      (isPassed(path, req.url ?? '') ? pass : path === '/' && wantsPage(req) ? home : other),
  });
}
