import type { ErrorCode } from '../../api/error-codes.js';
import { MillraceError } from '../../api/errors.js';
import { afterSilence } from '../../core/after-silence.js';
import { plainJson, type Schema } from '../openapi/types.js';
import { sendJson } from '../respond.js';
import type { GetRoute } from '../route.js';
import type { HttpServices } from '../services.js';

/** The time limit of a readiness check for the store's reply, in milliseconds. */
const PING_MS = 1000;

interface Check {
  readonly status: 'OK' | 'FAILED';
  readonly code?: ErrorCode;
  readonly reason?: string;
}

/** Present only while the process shuts down. */
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
          code: { type: 'string', description: 'Of the failure, as in docs/errors.md.' },
          reason: { type: 'string', description: 'Why the check failed.' },
        },
      },
    },
    warnings: {
      type: 'array',
      description: 'What does not stop this instance, but should be changed; left out if there is nothing.',
      items: {
        type: 'object',
        required: ['code', 'detail'],
        properties: { code: { type: 'string' }, detail: { type: 'string' } },
      },
    },
  },
};

/** Readiness: 200 if this instance accepts new traffic, otherwise 503 with the reason of each failed check. */
export const readiness: GetRoute = {
  path: '/readyz',
  scope: 'none',
  method: 'GET',
  class: 'health',
  audience: 'everyone',
  handler: ({ store, keys, logger, projectVersion, instance }) => {
    let failing: string | undefined;
    const checkStore = onceAtATime(async () => {
      const check = await pingWithin(store);
      if (check.reason !== failing) {
        failing = check.reason;
        if (failing === undefined) logger.info({}, 'the readiness check of the store succeeds again');
        else logger.warn({ code: check.code, reason: failing }, 'the readiness check of the store fails');
      }
      return check;
    });
    return async (_req, res) => {
      const check = await checkStore();
      // Pipelines are loaded before the service listens. The checks are built after the ping, because the signal may
      // arrive during the ping.
      const checks: Readonly<Record<string, Check>> = {
        store: check,
        pipelines: { status: 'OK' },
        ...(instance.isShuttingDown ? { process: SHUTTING_DOWN } : {}),
      };
      const ready = Object.values(checks).every(({ status }) => status === 'OK');
      const warnings = [...(store.warnings?.() ?? []), ...(keys?.warnings() ?? [])];
      if (!ready) res.setHeader('Retry-After', 1);
      sendJson(res, ready ? 200 : 503, {
        status: ready ? 'OK' : 'NOT_READY',
        project_version: projectVersion,
        checks,
        ...(warnings.length === 0 ? {} : { warnings }),
      });
    };
  },
  operation: () => ({
    operationId: 'ready',
    tags: ['Service'],
    summary: 'Readiness',
    responses: {
      200: plainJson('The project is loaded, and the store answers and accepts writes.', READINESS),
      503: plainJson(
        'The store does not answer or refuses writes, or the process shuts down; each check says why.',
        READINESS,
      ),
    },
  }),
};

async function pingWithin(store: HttpServices['store']): Promise<Check> {
  let stop = (): void => undefined;
  const late = new Promise<Check>((resolve) => {
    stop = afterSilence(PING_MS, () => {
      const reason = `the store did not answer within ${PING_MS} ms`;
      resolve({ status: 'FAILED', code: 'store_unavailable', reason });
    });
  });
  const pinged = store.ping().then(
    (): Check => ({ status: 'OK' }),
    (error: unknown): Check =>
      error instanceof MillraceError
        ? { status: 'FAILED', code: error.code, reason: error.message }
        : { status: 'FAILED', code: 'store_unavailable', reason: 'the ping failed' },
  );
  return Promise.race([pinged, late]).finally(() => stop());
}

/** Concurrent calls share one result, so that probes do not pile up on a store that hangs. */
function onceAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}
