import { StoreCheck, type StoreState } from '../../../state/store/store-check.js';
import { objectOf, plainJson, type Schema } from '../openapi/types.js';
import { sendJson } from '../respond.js';
import type { GetRoute } from '../route.js';

/** Present only while the process shuts down. */
const SHUTTING_DOWN: StoreState = { status: 'FAILED', reason: 'shutting_down' };

const READINESS: Schema = {
  type: 'object',
  required: ['status', 'checks'],
  properties: {
    status: { type: 'string', enum: ['OK', 'NOT_READY'] },
    project_version: { type: 'string', description: "Of the content of the project's files." },
    rolled_back: {
      type: 'boolean',
      description: 'True if this instance serves an earlier release instead of its files; left out if not.',
    },
    checks: {
      type: 'object',
      additionalProperties: objectOf<StoreState>(
        {
          status: { type: 'string', enum: ['OK', 'FAILED'] },
          code: { type: 'string', description: 'Of the failure, as in docs/reference/errors.md.' },
          reason: { type: 'string', description: 'Why the check failed.' },
        },
        ['code', 'reason'],
      ),
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
  title: 'Whether this instance takes traffic',
  handler: ({ store, shared, keys, logger, projectVersion, release, instance }) => {
    let failing: string | undefined;
    const checks = new StoreCheck(store);
    const checkStore = async (): Promise<StoreState> => {
      const check = await checks.run();
      if (check.reason !== failing) {
        failing = check.reason;
        if (failing === undefined) logger.info({}, 'the readiness check of the store succeeds again');
        else logger.warn({ code: check.code, reason: failing }, 'the readiness check of the store fails');
      }
      return check;
    };
    return async ({ res }) => {
      const [check, services] = await Promise.all([checkStore(), shared?.health()]);
      // Pipelines are loaded before the service listens. The checks are built after the ping, because the signal may
      // arrive during the ping.
      const parts: Readonly<Record<string, StoreState>> = {
        store: check,
        pipelines: { status: 'OK' },
        ...services,
        ...(instance.isShuttingDown ? { process: SHUTTING_DOWN } : {}),
      };
      const ready = Object.values(parts).every(({ status }) => status === 'OK');
      const warnings = [...(store.warnings?.() ?? []), ...(keys?.warnings() ?? []), ...instance.warnings()];
      if (!ready) res.setHeader('Retry-After', 1);
      sendJson(res, ready ? 200 : 503, {
        status: ready ? 'OK' : 'NOT_READY',
        project_version: projectVersion,
        ...(release === undefined ? {} : { rolled_back: true }),
        checks: parts,
        ...(warnings.length === 0 ? {} : { warnings }),
      });
    };
  },
  operation: () => ({
    operationId: 'ready',
    tags: ['Service'],
    summary: 'Readiness',
    description: 'Whether this instance takes traffic. A probe of an orchestrator asks it.',
    responses: {
      200: plainJson('The project is loaded, and the store answers and accepts writes.', READINESS, {
        status: 'OK',
        checks: { store: { status: 'OK' }, pipelines: { status: 'OK' } },
      }),
      503: plainJson(
        'The store does not answer or refuses writes, a service of a package is not healthy, or the process shuts down; each check says why.',
        READINESS,
        { status: 'NOT_READY', checks: { store: { status: 'OK' }, process: SHUTTING_DOWN } },
      ),
    },
  }),
};
