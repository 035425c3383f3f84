import { bodySchema, readFields } from '../../../ground/core/body-fields.js';
import { Violations } from '../../../ground/core/violations.js';
import { STORE_WRITE_FAILURES } from '../../../ground/api/error-codes.js';
import { SCOPE_NAMES } from '../../access/scopes.js';
import { SESSION_SECONDS } from '../../access/invitations.js';
import { OPEN_BODY, setCookie } from '../../access/sessions.js';
import { assetRoute } from '../asset-route.js';
import { withBody } from '../handle-body.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { jsonAnswer, objectOf, plainJson } from '../openapi/types.js';
import { sendJson } from '../respond.js';
import { pagePolicy, SESSION_FOLDER } from './workbench.js';
import type { GetRoute, PageRoute, PostRoute, Route } from '../route.js';

const API = '/api/v1/session';

/** The page that a link of `millrace keys invite` opens. The invitation is in its fragment, which no server and no log sees. */
const page: PageRoute = {
  ...assetRoute({
    path: '/session',
    folder: SESSION_FOLDER,
    file: 'workbench/session.html',
    type: 'text/html',
    policy: () => pagePolicy({}),
  }),
  title: 'Who is signed in',
};

interface SessionAnswer {
  readonly name: string;
  readonly until: string;
}

const NAME = { type: 'string', description: 'Of the person, as the invitation and the audit lines have it.' };
const TIME = { type: 'string', description: 'The end of the session, ISO 8601.' };

const open: PostRoute = {
  path: `${API}/open`,
  scope: 'none',
  audience: 'operators',
  method: 'POST',
  class: 'upload',
  writes: true,
  body: {
    limit: 'otherBytes',
    entityTypes: () => [],
    schema: () => bodySchema(OPEN_BODY, { invitation: { description: 'The part of the link after `#`.' } }),
    examples: () => ({ invitation: { summary: 'of a link', value: { invitation: 'mr_k3Jd8s2A_…' } } }),
  },
  handler:
    ({ sessions }) =>
    (exchange) =>
      withBody(exchange, async (body) => {
        const { req, res } = exchange;
        const { key, cookie, until } = await sessions.open(body);
        exchange.key = key;
        // Browsers add the header, also if a proxy ends TLS.
        res.setHeader(
          'Set-Cookie',
          setCookie(cookie, SESSION_SECONDS, req.headers.origin?.startsWith('https:') === true),
        );
        sendJson(res, 200, { name: key.name, until: new Date(until).toISOString() } satisfies SessionAnswer);
      }),
  operation: () => ({
    operationId: 'open_session',
    tags: ['Service'],
    summary: 'Sign in with an invitation',
    description:
      'For browsers: the answer sets a cookie, which lasts 12 hours and no script can read. An invitation of `millrace keys invite` opens one session.',
    responses: {
      200: jsonAnswer('The session.', objectOf<SessionAnswer>({ name: NAME, until: TIME })),
      ...problemResponses([...BODY_PROBLEMS, 'invitation_invalid', 'keys_damaged', ...STORE_WRITE_FAILURES]),
    },
  }),
};

export interface WhoAnswer {
  readonly name: string;
  readonly scopes: readonly string[];
  /** Absent if it may use all. */
  readonly pipelines?: readonly string[];
  /** Only of a session. */
  readonly until?: string;
  readonly csrf?: string;
}

export const who: GetRoute = {
  path: API,
  scope: 'any',
  audience: 'operators',
  method: 'GET',
  class: 'upload',
  handler:
    ({ sessions }) =>
    ({ req, res, key }) => {
      // A service without keys lets everybody do everything.
      const { name = '', scopes = SCOPE_NAMES, pipelines } = key ?? {};
      const own = pipelines === undefined ? {} : { pipelines };
      sendJson(res, 200, { name, scopes, ...own, ...sessions.describe(req) } satisfies WhoAnswer);
    },
  operation: () => ({
    operationId: 'get_session',
    tags: ['Service'],
    summary: 'Say who sends the request',
    description:
      'The name and the scopes of the key or of the session. A session also has its end, and the token that its requests send in `X-Millrace-CSRF` unless they only read.',
    responses: {
      200: plainJson(
        'The sender.',
        objectOf<WhoAnswer>(
          {
            name: { ...NAME, description: 'Empty if the service has no keys.' },
            scopes: { type: 'array', items: { type: 'string', enum: SCOPE_NAMES } },
            pipelines: {
              type: 'array',
              items: { type: 'string' },
              description: 'Those that the key may use; absent: all.',
            },
            until: TIME,
            csrf: { type: 'string' },
          },
          ['pipelines', 'until', 'csrf'],
        ),
      ),
    },
  }),
};

const end: PostRoute = {
  path: `${API}/end`,
  scope: 'any',
  audience: 'operators',
  method: 'POST',
  class: 'upload',
  writes: true,
  body: {
    limit: 'otherBytes',
    entityTypes: () => [],
    schema: () => ({ type: 'object' }),
    examples: () => ({ empty: { summary: 'of this session', value: {} } }),
  },
  handler:
    ({ sessions }) =>
    (exchange) =>
      withBody(exchange, async (body) => {
        const violations = new Violations();
        readFields(body, {}, violations, { expected: 'an object' });
        violations.throwIfAny('the request');
        await sessions.end(exchange.req);
        exchange.res.setHeader('Set-Cookie', setCookie('', 0, false));
        sendJson(exchange.res, 200, {});
      }),
  operation: () => ({
    operationId: 'end_session',
    tags: ['Service'],
    summary: 'Sign out',
    description: 'Ends the session of the request on all instances within a second.',
    responses: {
      200: jsonAnswer('The session is over.', { type: 'object' }),
      ...problemResponses([...BODY_PROBLEMS, ...STORE_WRITE_FAILURES]),
    },
  }),
};

/** Sign in, and out, with an invitation. */
export const SESSION: readonly Route[] = [page, open, who, end];
