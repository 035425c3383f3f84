import express from 'express';
import type { Express, Request, RequestHandler, Response } from 'express';
import type { RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { describeError } from '../core/describe-error.js';
import { answerHealth, answerReadiness } from './health.js';
import { HttpMetrics } from '../metrics/http-metrics.js';
import { describeApi } from './openapi/document.js';
import { checkRoutes, explainPath, literalPath, PATHS } from './paths.js';
import { answerProblem, refuseMethod, refuseRoute } from './problem.js';
import { explain, rank } from './rank.js';
import { readBody, withBody } from './read-body.js';
import { answerReference, answerReferenceBundle } from './reference.js';
import { beginRequest, requestState } from './request-state.js';
import { sendJson, sendLargeJson, sendText } from './respond.js';
import { DEFAULT_LIMITS, type HttpServices } from './services.js';

/**
 * The routes of the service. Nothing is read or looked up here beyond what the request needs; the services check bodies.
 * @throws MillraceError project_invalid if two routes are the same
 */
export function createHttpApp(services: HttpServices): RequestListener {
  const { entities, features, online, feedback, pipelines, logger } = services;
  const limits = { ...DEFAULT_LIMITS, ...services.limits };
  const metrics = services.metrics ?? new HttpMetrics();
  const rankingBody = readBody(limits.rankingBytes);
  const uploadBody = readBody(limits.uploadBytes);
  const otherBody = readBody(limits.otherBytes);

  checkRoutes(pipelines);
  const app = createExpress();
  app.use(beginRequest(metrics, logger));

  for (const pipeline of pipelines) {
    post(app, pipeline.route, rankingBody, rank(pipeline, metrics));
    post(app, explainPath(pipeline.route), rankingBody, explain(pipeline));
  }

  post(
    app,
    PATHS.uploadEntities,
    uploadBody,
    answer((body) => entities.upload(body)),
  );
  post(app, PATHS.getEntities, otherBody, async (req, res) => {
    await sendLargeJson(res, await withBody(req, (body) => entities.get(body)));
  });
  post(
    app,
    PATHS.deleteEntities,
    otherBody,
    answer((body) => entities.remove(body)),
  );
  post(
    app,
    PATHS.deleteEntitiesToo,
    otherBody,
    answer((body) => entities.remove(body)),
  );
  post(
    app,
    PATHS.pushFeatures,
    uploadBody,
    answer((body) => features.push(body)),
  );
  post(
    app,
    PATHS.deleteFeatures,
    otherBody,
    answer((body) => features.remove(body)),
  );
  post(app, PATHS.onlineFeatures, otherBody, async (req, res) => {
    const { gone } = requestState(res);
    const read = await withBody(req, (body) => online.read(body, gone));
    metrics.read(read.report);
    await sendLargeJson(res, read.answer);
  });

  post(
    app,
    PATHS.feedback,
    otherBody,
    answer(async (body) => {
      const recorded = await feedback.record(body);
      metrics.recorded(recorded.counts);
      return recorded.answer;
    }),
  );

  get(app, PATHS.health, answerHealth);
  get(app, PATHS.healthToo, answerHealth);
  get(app, PATHS.ready, answerReadiness(services));
  get(app, PATHS.metrics, answerMetrics(metrics));
  get(app, PATHS.openapi, answerDocument(services));
  get(app, PATHS.reference, answerReference());
  get(app, PATHS.referenceBundle, answerReferenceBundle());

  app.use(refuseRoute([...pipelines.map(({ route }) => route), ...Object.values(PATHS)]));
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

function post(app: Express, path: string, ...handlers: RequestHandler[]): void {
  app
    .route(literalPath(path))
    .all(matched(path))
    .post(...handlers)
    .all(refuseMethod(['POST']));
}

function get(app: Express, path: string, handler: RequestHandler): void {
  app
    .route(literalPath(path))
    .all(matched(path))
    .get(handler)
    .all(refuseMethod(['GET', 'HEAD']));
}

function matched(path: string): RequestHandler {
  return (_req, res, next) => {
    requestState(res).route = path;
    next();
  };
}

function answer(service: (body: unknown) => Promise<unknown>): RequestHandler {
  return async (req, res) => {
    sendJson(res, 200, await withBody(req, service));
  };
}

function answerMetrics({ registry }: HttpMetrics): RequestHandler {
  return async (_req, res) => {
    sendText(res, 200, registry.contentType, await registry.metrics());
  };
}

function answerDocument(services: HttpServices): RequestHandler {
  const text = JSON.stringify(describeApi(services), null, 2);
  return (_req, res) => {
    sendText(res, 200, 'application/json', text);
  };
}
