import type { Operation, Schema } from './types.js';

const TAGS = ['Service'];

const STATUS: Schema = {
  type: 'object',
  required: ['status'],
  properties: { status: { type: 'string', const: 'OK' } },
};

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

export function health(operationId: string): Operation {
  return {
    operationId,
    tags: TAGS,
    summary: 'Liveness',
    description: 'Answers as long as the process does; asks nothing of the store.',
    responses: { 200: json('The process answers.', STATUS) },
  };
}

export const READY: Operation = {
  operationId: 'ready',
  tags: TAGS,
  summary: 'Readiness',
  responses: {
    200: json('The project is loaded and the store answers.', READINESS),
    503: json('Not so; each check says why.', READINESS),
  },
};

export const METRICS: Operation = {
  operationId: 'metrics',
  tags: TAGS,
  summary: 'Metrics for Prometheus',
  responses: {
    200: {
      description: "In Prometheus' text format.",
      content: { 'text/plain': { schema: { type: 'string' } } },
    },
  },
};

export const DESCRIBE: Operation = {
  operationId: 'openapi',
  tags: TAGS,
  summary: 'This description',
  description:
    'Made of the pipelines, entity types and feature views that are loaded. `GET /redoc` shows it.',
  responses: { 200: json('An OpenAPI 3.1 document.', { type: 'object' }) },
};

function json(description: string, schema: Schema): Schema {
  return { description, content: { 'application/json': { schema } } };
}
