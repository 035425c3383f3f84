import { STORE_READ_FAILURES, STORE_WRITE_FAILURES } from '../../../ground/api/error-codes.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { timeText } from '../../../ground/core/timestamp.js';
import { errorAt } from '../../../ground/core/violations.js';
import type { Card } from '../../../state/index/cards.js';
import type { Pipeline } from '../../../request/pipeline/types.js';
import type { PipelineAnswer } from '../../../request/pipeline/answer-types.js';
import { KEY_STATES } from '../../access/api-key.js';
import {
  LINK_BODIES,
  LINK_DAYS,
  type OpenedLink,
  type PreviewLink,
  type SharedLink,
} from '../../access/preview-links.js';
import { noteWritten } from '../edge/audit.js';
import type { Exchange } from '../exchange.js';
import { answerRead, answerWrite, withBody } from '../handle-body.js';
import { CARD_SCHEMA } from '../openapi/explanation-schema.js';
import { BODY_PROBLEMS, PIPELINE_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { jsonAnswer, objectOf, oneOf } from '../openapi/types.js';
import { sendJson, sendLargeJson } from '../respond.js';
import type { PostRoute, Route, RouteParts } from '../route.js';

const PATH = '/api/v1/previews';
const TEXT = { type: 'string' };
const TIME = { ...TEXT, description: 'ISO 8601.' };
const TEXT_OR_NULL = { type: ['string', 'null'] };
const MEMBERS = {
  id: TEXT,
  draft: TEXT,
  pipeline: TEXT,
  at: { ...TEXT_OR_NULL, description: 'The time of the rules; null: when it is opened.' },
  author: { ...TEXT_OR_NULL, description: 'Who made it; null if the service needs no keys.' },
  created: TIME,
  expires: { ...TEXT, description: 'Until when it opens the preview.' },
  state: { type: 'string', enum: KEY_STATES },
};
const LINK = objectOf<PreviewLink>(MEMBERS);

/** What a link shows. */
export interface LinkedPreview extends Omit<OpenedLink, 'request'> {
  /** The time of the values, such as stock and prices: they are those of today, whatever the time of the rules. */
  readonly values: string;
  /** In which days of campaigns are whole. */
  readonly time_zone: string;
  readonly page: readonly {
    readonly candidate_id: string;
    readonly place: number;
    readonly card?: Card;
  }[];
  /** What the route of the pipeline will answer. */
  readonly answer: PipelineAnswer;
}

const PREVIEW = objectOf<LinkedPreview>({
  ...MEMBERS,
  values: {
    ...TEXT,
    description:
      'The time of the values, such as stock and prices: those of today, whatever the time of the rules.',
  },
  time_zone: { ...TEXT, description: 'In which days of campaigns are whole.' },
  page: {
    type: 'array',
    items: objectOf<LinkedPreview['page'][number]>(
      { candidate_id: TEXT, place: { type: 'integer', minimum: 1 }, card: CARD_SCHEMA },
      ['card'],
    ),
  },
  answer: { type: 'object', description: 'What the route of the pipeline will answer.' },
});

const COMMON = { audience: 'everyone', method: 'POST' } as const;

function pipelineOf({ pipelines }: RouteParts, name: string): Pipeline {
  const found = pipelines.find((one) => one.name === name && one.task === 'rank');
  if (found !== undefined) return found;
  throw new MillraceError('unknown_pipeline', `there is no pipeline ${name} that ranks`);
}

/** Ranks the request of a link. It leaves nothing. */
async function linked(
  parts: RouteParts,
  { id: requestId, deadline, span }: Exchange,
  {
    draft,
    pipeline,
    request,
    at,
  }: Pick<OpenedLink, 'draft' | 'pipeline' | 'request'> & { at?: string | null },
): Promise<Pick<LinkedPreview, 'page' | 'answer'>> {
  const ranking = pipelineOf(parts, pipeline);
  const rules = await parts.drafts.preview(draft);
  const { page, answer } = await ranking.explain(request, {
    ...{ requestId, deadline, span, rules, withCards: true, leavesNothing: true },
    ...(typeof at === 'string' ? { rulesAt: Date.parse(at) } : {}),
  });
  return {
    page: page.map(({ candidate_id, place, card }) => ({
      candidate_id,
      place,
      ...(card === undefined ? {} : { card }),
    })),
    answer,
  };
}

const share: PostRoute = {
  path: `${PATH}/share`,
  ...COMMON,
  scope: 'preview',
  class: 'explain',
  writes: true,
  body: {
    limit: 'otherBytes',
    entityTypes: undefined,
    schema: ({ pipelines }) => ({
      ...bodySchema(LINK_BODIES.share, {
        draft: { description: 'The draft that the link shows, and no other.' },
        pipeline: oneOf(pipelines.filter(({ task }) => task === 'rank').map(({ name }) => name)),
        request: { description: 'A request to the pipeline: the query or category, the user, …' },
        at: { description: 'The time of the rules, ISO 8601; by default when the link is opened.' },
        expires: {
          description: `Until when the link opens, ISO 8601; by default ${LINK_DAYS} days from now.`,
        },
      }),
      additionalProperties: false,
    }),
    examples: ({ pipelines, curationLists }) => {
      const pipeline = pipelines.find(({ task }) => task === 'rank')?.name;
      const value = {
        draft: 'friday',
        pipeline,
        request: { query: { query: 'tv' } },
        at: '2026-11-28T20:00+01:00',
      };
      return pipeline === undefined || curationLists.length === 0
        ? {}
        : { link: { summary: 'an evening', value } };
    },
  },
  handler: (parts) => async (exchange) => {
    const answer = await withBody(exchange, (body) =>
      parts.previewLinks.share(body, exchange.key, async (asked) => {
        await linked(parts, exchange, asked).catch((error: unknown) => {
          throw errorAt('/request', error);
        });
      }),
    );
    noteWritten(exchange, answer);
    // No cache may keep the text, which opens the preview.
    exchange.res.setHeader('Cache-Control', 'no-store');
    sendJson(exchange.res, 200, answer);
  },
  operation: () => ({
    operationId: 'share_preview',
    tags: ['Curation'],
    summary: 'Make a link to a preview',
    description:
      'Makes a link that shows the page of one request with one draft to people without a key: `/workbench/preview#<link>` at the ' +
      'service. It opens nothing else, until it expires or is revoked.',
    responses: {
      200: jsonAnswer(
        'The link. Nothing shows its text again.',
        objectOf<SharedLink>({
          link: { ...TEXT, description: 'What stands after `#` in the address.' },
          ...MEMBERS,
        }),
      ),
      ...problemResponses([
        ...new Set([
          ...BODY_PROBLEMS,
          ...PIPELINE_PROBLEMS,
          ...(['unknown_pipeline', 'unknown_draft', 'key_not_allowed', 'preview_links_full'] as const),
          ...STORE_WRITE_FAILURES,
        ]),
      ]),
    },
  }),
};

const list: PostRoute = {
  path: `${PATH}/links`,
  ...COMMON,
  scope: 'preview',
  class: 'upload',
  body: {
    limit: 'otherBytes',
    entityTypes: undefined,
    schema: () => ({ type: 'object' }),
    examples: () => ({ all: { summary: 'all links', value: {} } }),
  },
  handler: ({ previewLinks }) => answerRead((body) => previewLinks.links(body)),
  operation: () => ({
    operationId: 'list_preview_links',
    tags: ['Curation'],
    summary: 'List the links to previews',
    description: 'The links to previews that are not over, without their texts.',
    responses: {
      200: jsonAnswer(
        'The links.',
        objectOf<{ links: readonly PreviewLink[] }>({ links: { type: 'array', items: LINK } }),
      ),
      ...problemResponses([...BODY_PROBLEMS, ...STORE_READ_FAILURES]),
    },
  }),
};

const revoke: PostRoute = {
  path: `${PATH}/revoke`,
  ...COMMON,
  scope: 'preview',
  class: 'upload',
  writes: true,
  body: {
    limit: 'otherBytes',
    entityTypes: undefined,
    schema: () => bodySchema(LINK_BODIES.revoke, { link: { description: 'Its id.' } }),
    examples: () => ({ id: { summary: 'by its id', value: { link: 'k3Jd8s2A' } } }),
  },
  handler: ({ previewLinks }) => answerWrite((body) => previewLinks.revoke(body)),
  operation: () => ({
    operationId: 'revoke_preview_link',
    tags: ['Curation'],
    summary: 'Revoke a link to a preview',
    description: 'The link opens nothing any more, on all instances at once.',
    responses: {
      200: jsonAnswer('The revoked link.', LINK),
      ...problemResponses([...BODY_PROBLEMS, 'unknown_preview_link', ...STORE_WRITE_FAILURES]),
    },
  }),
};

const open: PostRoute = {
  path: `${PATH}/open`,
  ...COMMON,
  // The link is what allows it.
  scope: 'none',
  class: 'explain',
  body: {
    limit: 'otherBytes',
    entityTypes: undefined,
    schema: () => bodySchema(LINK_BODIES.open, { link: { description: 'The part of the link after `#`.' } }),
    examples: () => ({ link: { summary: 'of a link', value: { link: 'mr_k3Jd8s2A_…' } } }),
  },
  handler: (parts) => (exchange) =>
    withBody(exchange, async (body) => {
      const { request, ...link } = await parts.previewLinks.open(body);
      const shown = await linked(parts, exchange, { ...link, request });
      const answer: LinkedPreview = {
        ...link,
        values: timeText(Date.now()),
        time_zone: parts.drafts.zone,
        ...shown,
      };
      exchange.res.setHeader('Cache-Control', 'no-store');
      await sendLargeJson(exchange.res, answer);
    }),
  operation: () => ({
    operationId: 'open_preview',
    tags: ['Curation'],
    summary: 'Open a link to a preview',
    description:
      'The page of the request that the link has, once its draft is published, at its time. Nothing is recorded or counted. It needs no key.',
    responses: {
      200: jsonAnswer('The page.', PREVIEW),
      ...problemResponses([
        ...new Set([
          ...BODY_PROBLEMS,
          ...PIPELINE_PROBLEMS,
          ...(['preview_link_invalid', 'unknown_draft', 'unknown_pipeline'] as const),
          ...STORE_READ_FAILURES,
        ]),
      ]),
    },
  }),
};

/** Links to previews, for people without a key. */
export const PREVIEWS: readonly Route[] = [share, list, revoke, open];
