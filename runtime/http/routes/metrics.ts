import { sendText } from '../respond.js';
import type { GetRoute } from '../route.js';

export const metrics: GetRoute = {
  path: '/metrics',
  method: 'GET',
  class: 'health',
  handler:
    ({ metrics: { registry } }) =>
    async (_req, res) => {
      sendText(res, 200, registry.contentType, await registry.metrics());
    },
  operation: () => ({
    operationId: 'metrics',
    tags: ['Service'],
    summary: 'Metrics for Prometheus',
    responses: {
      200: {
        description: "In Prometheus' text format.",
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
    },
  }),
};
