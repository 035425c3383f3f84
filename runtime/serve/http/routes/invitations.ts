import { STORE_READ_FAILURES, STORE_WRITE_FAILURES } from '../../../ground/api/error-codes.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { KEY_STATES } from '../../access/api-key.js';
import {
  INVITATION_DAYS,
  INVITE_BODY,
  REVOKE_BODY,
  type InvitationAnswer,
  type InvitedAnswer,
} from '../../access/invitations.js';
import { SCOPE_NAMES } from '../../access/scopes.js';
import { answerWrite, withBody } from '../handle-body.js';
import { noteWritten } from '../edge/audit.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { jsonAnswer, objectOf, oneOf } from '../openapi/types.js';
import { sendJson } from '../respond.js';
import { ADMIN_WRITE, type GetRoute, type PostRoute, type Route } from '../route.js';

const PATH = '/api/v1/invitations';

const NAMES = { type: 'array', items: { type: 'string' } };
const TIME = { type: 'string', description: 'ISO 8601.' };
const MEMBERS = {
  id: { type: 'string' },
  name: { type: 'string', description: 'Of the person, as audit lines and histories have it.' },
  scopes: { type: 'array', items: { type: 'string', enum: SCOPE_NAMES } },
  pipelines: NAMES,
  entity_types: NAMES,
  invites: { const: true, description: 'It is no key for requests.' },
  created: TIME,
  expires: { type: 'string', description: 'Until when the link opens a session.' },
  revoked: TIME,
  state: { type: 'string', enum: KEY_STATES },
};
const OPTIONAL = ['pipelines', 'entity_types', 'revoked'] as const;
const INVITATION = objectOf<InvitationAnswer>(MEMBERS, OPTIONAL);

export const listInvitations: GetRoute = {
  path: PATH,
  scope: 'admin',
  audience: 'operators',
  method: 'GET',
  class: 'upload',
  handler:
    ({ invitations }) =>
    async ({ res }) => {
      sendJson(res, 200, await invitations.list());
    },
  operation: () => ({
    operationId: 'list_invitations',
    tags: ['Service'],
    summary: 'List the invitations',
    description:
      'The invitations that were made over HTTP, without their texts. Those of the keys file are not among them.',
    responses: {
      200: jsonAnswer(
        'The invitations.',
        objectOf<{ invitations: readonly InvitationAnswer[] }>({
          invitations: { type: 'array', items: INVITATION },
        }),
      ),
      ...problemResponses([...STORE_READ_FAILURES, 'keys_damaged']),
    },
  }),
};

export const createInvitation: PostRoute = {
  path: `${PATH}/create`,
  ...ADMIN_WRITE,
  body: {
    limit: 'otherBytes',
    // The limits of the key become those of the invitation.
    entityTypes: () => [],
    schema: ({ pipelines }) =>
      bodySchema(INVITE_BODY, {
        name: { description: 'Of the person, for audit lines and histories.' },
        role: { description: 'What the person may do: a role stands for scopes.' },
        pipelines: {
          items: oneOf(pipelines.map(({ name }) => name)),
          description: 'The pipelines that the person may run and explain; by default all that the key may.',
        },
        expires: {
          description: `Until when the link opens a session, ISO 8601; by default ${INVITATION_DAYS} days from now.`,
        },
      }),
    examples: () => ({
      merchandiser: { summary: 'of a merchandiser', value: { name: 'anna', role: 'merchandiser' } },
    }),
  },
  handler: ({ invitations, pipelines }) => {
    const names = pipelines.map(({ name }) => name);
    return async (exchange) => {
      const answer = await withBody(exchange, (body) => invitations.create(body, exchange.key, names));
      noteWritten(exchange, answer);
      // No cache may keep the text, which opens a session.
      exchange.res.setHeader('Cache-Control', 'no-store');
      sendJson(exchange.res, 200, answer);
    };
  },
  operation: () => ({
    operationId: 'create_invitation',
    tags: ['Service'],
    summary: 'Invite a person',
    description:
      'Makes an invitation, which all instances take at once. Whoever opens `/session#<invitation>` at the service signs in, ' +
      'once, for 12 hours. The invitation has no more pipelines and entity types than the key that makes it.',
    responses: {
      200: jsonAnswer(
        'The invitation. Nothing shows its text again.',
        objectOf<InvitedAnswer>(
          { invitation: { type: 'string', description: 'What stands after `#` in the link.' }, ...MEMBERS },
          OPTIONAL,
        ),
      ),
      ...problemResponses([
        ...BODY_PROBLEMS,
        'key_not_allowed',
        'invitation_invalid',
        'invitations_full',
        'keys_damaged',
        ...STORE_WRITE_FAILURES,
      ]),
    },
  }),
};

export const revokeInvitation: PostRoute = {
  path: `${PATH}/revoke`,
  ...ADMIN_WRITE,
  body: {
    limit: 'otherBytes',
    entityTypes: () => [],
    schema: () =>
      bodySchema(REVOKE_BODY, { invitation: { description: 'Its id, or the name of the person.' } }),
    examples: () => ({ name: { summary: 'by name', value: { invitation: 'anna' } } }),
  },
  handler: ({ invitations }) => answerWrite((body) => invitations.revoke(body)),
  operation: () => ({
    operationId: 'revoke_invitation',
    tags: ['Service'],
    summary: 'Revoke an invitation',
    description:
      'Its link opens nothing any more, and the session that it opened ends within two seconds on all instances.',
    responses: {
      200: jsonAnswer('The revoked invitation.', INVITATION),
      ...problemResponses([...BODY_PROBLEMS, 'unknown_invitation', 'keys_damaged', ...STORE_WRITE_FAILURES]),
    },
  }),
};

/** Invite people without the keys file. */
export const INVITATIONS: readonly Route[] = [listInvitations, createInvitation, revokeInvitation];
