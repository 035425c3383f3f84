import { plainJson, type Schema } from '../openapi/types.js';
import { sendJson } from '../respond.js';
import type { GetRoute } from '../route.js';

const STATUS: Schema = {
  type: 'object',
  required: ['status'],
  properties: { status: { type: 'string', const: 'OK' } },
};

export const healthz = livenessAt('/healthz', 'health');

export const healthcheck = livenessAt('/healthcheck', 'health_check');

/** Liveness: the process answers. The check does not use the store, so a lost store does not restart the process. */
function livenessAt(path: string, operationId: string): GetRoute {
  return {
    path,
    scope: 'none',
    method: 'GET',
    class: 'health',
    audience: 'everyone',
    handler:
      () =>
      ({ res }) => {
        sendJson(res, 200, { status: 'OK' });
      },
    operation: () => ({
      operationId,
      tags: ['Service'],
      summary: 'Liveness',
      description: 'Answers as long as the process does; asks nothing of the store.',
      responses: { 200: plainJson('The process answers.', STATUS, { status: 'OK' }) },
    }),
  };
}
