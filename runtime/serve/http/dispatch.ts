import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { authorize, type Guarded, type KeySource } from '../access/authorize.js';
import type { HeadError } from '../access/head-error.js';
import type { RouteLoad } from './admission/admission.js';
import { wantsPage } from './browser-page.js';
import { isRefusedOften, isSpare } from './connections.js';
import type { Audience } from './edge/audience.js';
import type { Audit } from './edge/audit.js';
import type { Edge } from './edge/edge.js';
import { Exchange, type ExchangeParts } from './exchange.js';
import { answerMethods, wrongMethod } from './problem.js';
import { refusalWith } from './refuse-by-head.js';
import { overloaded } from './refuse-overload.js';
import type { Handler } from './route.js';
import { parametersOf } from './route-path.js';
import type { SessionService } from './services.js';

/** What a path of the table leads to. */
export interface Entry extends Guarded {
  /** Undefined for requests that match no route. */
  readonly path: string | undefined;
  readonly load: RouteLoad;
  readonly writes?: true;
  /** The methods that the path supports; undefined for all. */
  readonly methods: readonly string[] | undefined;
  /** Returns why a request that passed all guards is refused by its head. */
  readonly faultOf: ((req: IncomingMessage, path: string) => HeadError | undefined) | undefined;
  readonly answer: Handler;
}

export interface DispatchParts extends ExchangeParts {
  readonly edge: Edge;
  readonly audit: Audit;
  readonly audience: Audience;
  /** The keys that requests need; undefined if they need none. */
  readonly keys: KeySource | undefined;
  /** Undefined if requests need no keys. */
  readonly sessions: SessionService | undefined;
  /** Returns what a path leads to. It has neither a query nor a trailing slash. */
  readonly find: (path: string, req: IncomingMessage) => Entry;
}

/**
 * Answers all requests of a listener. A request is admitted or refused by its head alone, because most requests are shed
 * during an overload. No other code reads its path or checks its key.
 */
export function dispatch(parts: DispatchParts): RequestListener {
  const { admission, metrics, edge, audit, audience, keys, sessions, tracing, logger, find } = parts;
  /** True if more than the head is needed to answer an error: a trace, a log line, or a page for a browser. */
  const isObserved = (req: IncomingMessage, { writes }: Entry): boolean =>
    (writes === true && req.method === 'POST') ||
    tracing !== undefined ||
    wantsPage(req) ||
    logger.isLevelEnabled('debug');
  const handle = (req: IncomingMessage, res: ServerResponse, path: string, entry: Entry): void => {
    const headAt = performance.now();
    const arrived = admission.arrived(headAt);
    const { load } = entry;
    const isHealth = load.class === 'health';
    const fault = edge.faultOf(req, res, audience, isHealth);
    const isLast = isSpare(req.socket) && !isHealth;
    const cause = isLast ? 'connections' : admission.refuses(load, arrived, headAt);
    if (cause !== undefined) {
      admission.shed(load.class, cause);
      metrics.refusedByHead(entry.path, overloaded.status);
      overloaded.send(req, res, isLast || isRefusedOften(req.socket));
      return;
    }
    // Browsers send preflight requests without a key.
    const isPreflight = fault === undefined && edge.isPreflight(req, res);
    const needsKey = keys !== undefined && fault === undefined && !isPreflight;
    const access = needsKey
      ? (sessions?.access(req, entry) ?? authorize(keys, req.headers.authorization, entry))
      : undefined;
    const key = access?.key;
    const faultOfRequest = (): HeadError | undefined =>
      fault ?? (isPreflight ? undefined : faultOf(entry, req, path));
    const isLimited = access?.refusal === undefined && fault === undefined && !isHealth && edge.limits(key);
    const refused = access?.refusal ?? (isLimited ? undefined : faultOfRequest());
    if (refused !== undefined && (refused === access?.refusal || !isObserved(req, entry))) {
      const refusal = refusalWith(refused);
      metrics.refusedByHead(entry.path, refusal.status);
      if (key !== undefined) metrics.keys.used(key, load.class, refusal.status);
      refusal.send(req, res);
      return;
    }
    const exchange = new Exchange(parts, { req, res, load, arrived, headAt, key });
    if (entry.writes === true && req.method === 'POST') audit.watch(exchange, entry.path ?? '');
    const answered = async (): Promise<void> => {
      const exceeded = isLimited ? await edge.limit(req, res, key) : undefined;
      if (exceeded !== undefined) throw exceeded;
      if (fault === undefined) exchange.route = entry.path;
      const found = isLimited ? faultOfRequest() : refused;
      if (found !== undefined) throw found;
      if (isPreflight) edge.answerPreflight(res);
      else await answer(exchange, entry, path);
    };
    answered().catch((error: unknown) => parts.fail(error, exchange));
  };
  return (req, res) => {
    const path = pathOf(req.url ?? '/');
    const entry = find(path, req);
    if (keys === undefined || entry.scope === 'none' || sessions?.mustLoad(req) !== true)
      handle(req, res, path, entry);
    else
      void sessions.load(req).then(() => {
        handle(req, res, path, entry);
      });
  };
}

/** Answers a request that passed all guards, and that its head does not refuse. */
function answer(exchange: Exchange, entry: Entry, path: string): void | Promise<void> {
  const { req, res } = exchange;
  if (entry.path !== undefined) exchange.params = parametersOf(entry.path, path);
  if (entry.methods !== undefined && req.method === 'OPTIONS') answerMethods(res, entry.methods);
  else return entry.answer(exchange);
}

/** Returns why a request that passed all guards is refused by its head. OPTIONS is answered with the methods. */
function faultOf(
  { methods, faultOf: more }: Entry,
  req: IncomingMessage,
  path: string,
): HeadError | undefined {
  if (methods === undefined || methods.includes(req.method ?? '')) return more?.(req, path);
  return req.method === 'OPTIONS' ? undefined : wrongMethod(req, methods);
}

/** The path without its query and without a trailing slash. */
function pathOf(url: string): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
