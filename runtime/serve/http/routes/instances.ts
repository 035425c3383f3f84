import { STORE_READ_FAILURES } from '../../../ground/api/error-codes.js';
import {
  STATES,
  type InstanceList,
  type LivePipeline,
  type LiveState,
  type ShownInstance,
} from '../../metrics/live-meter.js';
import { problemResponses } from '../openapi/problems.js';
import { objectOf, plainJson } from '../openapi/types.js';
import { sendJson } from '../respond.js';
import type { GetRoute } from '../route.js';

const TEXT = { type: 'string' };
const NUMBER = { type: 'number' };
const RATE = { type: 'number', description: 'Per second.' };
const TIME = { type: 'string', description: 'ISO 8601.' };
const TIME_OR_NULL = { type: ['string', 'null'], description: 'ISO 8601; null: not since the start.' };
const LATENCY = { type: ['number', 'null'], description: 'Milliseconds; null without requests.' };

const INSTANCE = objectOf<ShownInstance>({
  instance: TEXT,
  seen: TIME,
  state: { type: 'string', enum: STATES, description: '`stale`: it has published nothing for 20 seconds.' },
  started: TIME,
  project: { ...TEXT, description: 'The version of the files that it serves.' },
  window: { ...NUMBER, description: 'The length of the window of the rates, seconds.' },
  refused: { ...RATE, description: 'Refused by load, host, origin or rate, per second.' },
  pipelines: {
    type: 'array',
    items: objectOf<LivePipeline>({
      pipeline: TEXT,
      requests: RATE,
      failed: { ...RATE, description: 'Answers with a status of 400 or more, per second.' },
      degraded: RATE,
      p50: LATENCY,
      p99: LATENCY,
    }),
  },
  feedback: { ...RATE, description: 'Events that were stored and counted, per second.' },
  last_feedback: TIME_OR_NULL,
  last_ledger_write: TIME_OR_NULL,
  sources: {
    type: 'array',
    items: objectOf<LiveState['sources'][number]>({
      source: TEXT,
      is_up: { type: 'boolean' },
      lag: { type: ['number', 'null'], description: 'Messages that are not read yet.' },
      last: TIME_OR_NULL,
    }),
  },
  arms: {
    type: 'array',
    items: objectOf<LiveState['arms'][number]>({
      experiment: TEXT,
      arm: TEXT,
      requests: { ...NUMBER, description: 'Since the start of the instance.' },
    }),
  },
});

export const listInstances: GetRoute = {
  path: '/api/v1/instances',
  scope: 'explain',
  audience: 'operators',
  method: 'GET',
  class: 'upload',
  handler:
    ({ live }) =>
    async ({ res }) => {
      const none: InstanceList = { at: new Date().toISOString(), instances: [] };
      sendJson(res, 200, (await live?.list()) ?? none);
    },
  operation: () => ({
    operationId: 'list_instances',
    tags: ['Service'],
    summary: 'List the instances',
    description:
      'The state of all instances that use the store: rates, refusals, degraded answers, latency, feedback, sources and arms. ' +
      'Each publishes its state every five seconds. A silent instance is stale after 20 seconds, and is forgotten after ten minutes.',
    responses: {
      200: plainJson(
        'The instances.',
        objectOf<InstanceList>({ at: TIME, instances: { type: 'array', items: INSTANCE } }),
      ),
      ...problemResponses([...STORE_READ_FAILURES]),
    },
  }),
};
