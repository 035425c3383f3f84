import express from 'express';
import type { Express, Request, RequestHandler, Response } from 'express';
import type { RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { describeError } from '../core/describe-error.js';
import { HttpMetrics } from '../metrics/http-metrics.js';
import { Instance } from './instance.js';
import { answerProblem, refuseMethod, refuseRoute } from './problem.js';
import { readBody } from './read-body.js';
import { beginRequest, requestState } from './request-state.js';
import type { Route, RouteParts } from './route.js';
import { routesOf } from './routes.js';
import { DEFAULT_LIMITS, type BodyLimits, type HttpServices } from './services.js';

/**
 * Mounts the routes of the service. Nothing is read or looked up here beyond what the request needs; the services check
 * bodies.
 */
export function createHttpApp(services: HttpServices): RequestListener {
  const { logger } = services;
  const metrics = services.metrics ?? new HttpMetrics();
  const limits = { ...DEFAULT_LIMITS, ...services.limits };
  const routes = routesOf(services.pipelines);
  const parts = { ...services, metrics, routes, instance: services.instance ?? new Instance() };

  const app = createExpress();
  app.use(beginRequest(metrics, logger));
  for (const route of routes) mount(app, route, limits, parts);
  app.use(refuseRoute(routes.filter(({ isPrivate }) => isPrivate !== true).map(({ path }) => path)));
  app.use(answerProblem(logger));
  return (req, res) => {
    app(req as Request, res as Response, giveUp(res, logger));
  };
}

/** In the place of Express's last handler, which prints a stack and answers with it: an error that was not answered. */
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

function mount(app: Express, route: Route, limits: BodyLimits, parts: RouteParts): void {
  const mounted = app.route(literalPath(route.path)).all(matched(route.path));
  const handler = route.handler(parts);
  if (route.method === 'GET') mounted.get(handler).all(refuseMethod(['GET', 'HEAD']));
  else mounted.post(readBody(limits[route.body.limit]), handler).all(refuseMethod(['POST']));
}

/** A path that express matches as it stands: its pattern signs are escaped. */
function literalPath(path: string): string {
  return path.replace(/[{}()[\]+?!:*\\]/g, '\\$&');
}

function matched(path: string): RequestHandler {
  return (_req, res, next) => {
    requestState(res).route = path;
    next();
  };
}
