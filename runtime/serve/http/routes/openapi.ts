import { describeApi } from '../openapi/document.js';
import { plainJson } from '../openapi/types.js';
import { sendText } from '../respond.js';
import type { GetRoute } from '../route.js';

export const openapi: GetRoute = {
  path: '/openapi.json',
  scope: 'any',
  method: 'GET',
  class: 'explain',
  audience: 'operators',
  title: 'The reference for programs: OpenAPI',
  handler: (parts) => {
    // Few services are asked. To describe all routes takes as long as to compile a small project.
    let text: string | undefined;
    return ({ res }) => {
      text ??= JSON.stringify(describeApi(parts.routes, parts), null, 2);
      sendText(res, 200, 'application/json', text);
    };
  },
  operation: () => ({
    operationId: 'openapi',
    tags: ['Service'],
    summary: 'This description',
    description:
      'Made of the pipelines, entity types and feature views that are loaded. `GET /redoc` shows it.',
    responses: { 200: plainJson('An OpenAPI 3.1 document.', { type: 'object', additionalProperties: true }) },
  }),
};
