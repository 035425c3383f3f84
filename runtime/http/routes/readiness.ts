import type { Logger } from 'pino';
import { MillraceError } from '../../api/errors.js';
import { afterSilence } from '../../core/after-silence.js';
import { describeError } from '../../core/describe-error.js';
import { plainJson, type Schema } from '../openapi/types.js';
import { sendJson } from '../respond.js';
import type { GetRoute } from '../route.js';
import type { HttpServices } from '../services.js';

/** How long a readiness check waits for the store. */
const PING_MS = 1000;

interface Check {
  readonly status: 'OK' | 'FAILED';
  readonly reason?: string;
}

/** Only there while the process shuts down. */
const SHUTTING_DOWN: Check = { status: 'FAILED', reason: 'shutting_down' };

const READINESS: Schema = {
  type: 'object',
  required: ['status', 'checks'],
  properties: {
    status: { type: 'string', enum: ['OK', 'NOT_READY'] },
    project_version: { type: 'string', description: "Of the content of the project's files." },
    checks: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['status'],
        properties: {
          status: { type: 'string', enum: ['OK', 'FAILED'] },
          reason: { type: 'string', description: 'Why the check failed.' },
        },
      },
    },
  },
};

/** Readiness: 200 if this instance takes new traffic, else 503, with the reason of each failed check. */
export const readiness: GetRoute = {
  path: '/readyz',
  method: 'GET',
  class: 'health',
  handler: ({ store, logger, projectVersion, instance }) => {
    const checkStore = onceAtATime(() => pingWithin(store, logger));
    return async (_req, res) => {
      const store = await checkStore();
      // Pipelines are loaded before anything listens. After the ping, because the signal may come meanwhile.
      const checks: Readonly<Record<string, Check>> = {
        store,
        pipelines: { status: 'OK' },
        ...(instance.isShuttingDown ? { process: SHUTTING_DOWN } : {}),
      };
      const ready = Object.values(checks).every(({ status }) => status === 'OK');
      if (!ready) res.setHeader('Retry-After', 1);
      const status = ready ? 'OK' : 'NOT_READY';
      sendJson(res, ready ? 200 : 503, { status, project_version: projectVersion, checks });
    };
  },
  operation: () => ({
    operationId: 'ready',
    tags: ['Service'],
    summary: 'Readiness',
    responses: {
      200: plainJson('The project is loaded and the store answers.', READINESS),
      503: plainJson('The store does not answer, or the process shuts down; each check says why.', READINESS),
    },
  }),
};

async function pingWithin(store: HttpServices['store'], logger: Logger): Promise<Check> {
  let stop = (): void => undefined;
  const late = new Promise<Check>((resolve) => {
    stop = afterSilence(PING_MS, () => {
      resolve({ status: 'FAILED', reason: `the store did not answer within ${PING_MS} ms` });
    });
  });
  const pinged = store.ping().then(
    (): Check => ({ status: 'OK' }),
    (error: unknown): Check => {
      logger.warn({ error: describeError(error) }, 'the store does not answer');
      return { status: 'FAILED', reason: error instanceof MillraceError ? error.message : 'the ping failed' };
    },
  );
  return Promise.race([pinged, late]).finally(() => stop());
}

/** Calls during a call share its result: probes must not pile up on a store that hangs. */
function onceAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}
