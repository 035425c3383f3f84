import { sendText } from '../respond.js';
import type { GetRoute } from '../route.js';

export const metrics: GetRoute = {
  path: '/metrics',
  scope: 'metrics',
  method: 'GET',
  class: 'health',
  audience: 'operators',
  title: 'Metrics for Prometheus',
  handler:
    ({ metrics: { registry }, instance }) =>
    async ({ res }) => {
      sendText(res, 200, registry.contentType, await instance.metrics(registry));
    },
  operation: () => ({
    operationId: 'metrics',
    tags: ['Service'],
    summary: 'Metrics for Prometheus',
    description: 'All metrics of this instance.',
    responses: {
      200: {
        description: "In Prometheus' text format.",
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
    },
  }),
};
