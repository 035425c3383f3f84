import type { RequestHandler } from 'express';
import type { Exchange } from './exchange.js';
import type { RouteScope } from '../access/scopes.js';
import type { Audience } from './edge/audience.js';
import type { Instance } from './instance.js';
import type { HttpMetrics } from '../metrics/http-metrics.js';
import type { Operation, Schema } from './openapi/types.js';
import type { RequestClass } from './admission/request-class.js';
import type { BodyLimits, HttpServices, TimeLimits } from './services.js';

/** The inputs of the OpenAPI document. */
export type ApiParts = Pick<
  HttpServices,
  | 'pipelines'
  | 'entityTypes'
  | 'views'
  | 'eventKinds'
  | 'curationLists'
  | 'counterNames'
  | 'experimentNames'
  | 'version'
  | 'keys'
>;

/** The inputs of a route's handler. */
export interface RouteParts extends HttpServices {
  readonly metrics: HttpMetrics;
  readonly instance: Instance;
  /** All routes of the service, in the order of the list. */
  readonly routes: readonly Route[];
}

/** The body of a POST route. */
export interface RouteBody {
  /** Whether it is JSON in lines, and not one JSON value. */
  readonly isLines?: boolean;
  /** The setting that limits its size. */
  readonly limit: keyof BodyLimits;
  readonly schema: (api: ApiParts) => Schema;
  /** The examples by name, each with a `summary` and a `value`. */
  readonly examples: (api: ApiParts) => Schema;
  /** Names the entity types that a body uses, for keys that may use only some; undefined if the route has a pipeline. */
  readonly entityTypes: EntityTypesOf | undefined;
}

export type EntityTypesOf = (body: unknown, api: ApiParts) => Iterable<string> | Promise<Iterable<string>>;

interface CommonRoute {
  /**
   * A literal path, or one with parameters: `/api/v1/pipelines/:name/stats`. `params` has their values as text. A literal
   * path wins. No pipeline can have a route below the first parameter.
   */
  readonly path: string;
  /** What a request needs a key for, if the service has keys. */
  readonly scope: RouteScope;
  /** The pipeline that the route runs or explains. A key may be restricted to some pipelines. */
  readonly pipeline?: string;
  /** Who calls the route, if the service has a second listener for operators; by default the clients. */
  readonly audience?: Audience | 'everyone';
  /** Determines which requests are shed first during an overload. */
  readonly class: RequestClass;
  /** The time limit of a request in milliseconds, from its head to its answer; by default `requestMs`. */
  readonly limitMs?: (times: TimeLimits) => number;
  /** A folder outside the API, with a trailing slash. No pipeline can have a route in it. */
  readonly folder?: string;
  /** The operation in the OpenAPI document. A route without one is not documented. */
  readonly operation?: (api: ApiParts) => Operation;
  /** The name of a page for people. `/` lists those that have one. */
  readonly title?: string;
  /** The schemas that the operation and the body refer to, by name. */
  readonly schemas?: (api: ApiParts) => readonly (readonly [string, Schema])[];
  /** True if it changes or counts the ledger of the process, which the process of the workbench does not have. */
  readonly usesLedger?: true;
  /** True if the answer to an unknown path must not suggest this route. */
  readonly isPrivate?: true;
}

/** Answers a request. It answers an error by throwing it. */
export type Handler = (exchange: Exchange) => void | Promise<void>;

interface HandledRoute extends CommonRoute {
  /** Creates the handler, once per generation. */
  readonly handler: (parts: RouteParts) => Handler;
}

/** A route that answers GET and HEAD. */
export interface GetRoute extends HandledRoute {
  readonly method: 'GET';
}

/** A page for browsers, or a file of one. Express serves it, so it needs no scope: requests reach Express with any key. */
export interface PageRoute extends CommonRoute {
  readonly method: 'GET';
  readonly scope: 'none' | 'any';
  /** Creates the handler, once per generation. */
  readonly page: (services: Pick<HttpServices, 'imageHosts'>) => RequestHandler;
}

/** A route that answers POST, with a JSON body. */
export interface PostRoute extends HandledRoute {
  readonly method: 'POST';
  /** True if it changes what the store holds. Each of its requests has an audit line in the log. */
  readonly writes?: true;
  readonly body: RouteBody;
}

/** What the routes of operators have in common that change something. */
export const ADMIN_WRITE = {
  scope: 'admin',
  audience: 'operators',
  method: 'POST',
  class: 'upload',
  writes: true,
} as const;

/** One route: its path, its body, its handler and its description. */
export type Route = GetRoute | PageRoute | PostRoute;
