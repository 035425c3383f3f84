import {
  STORE_READ_FAILURES,
  STORE_WRITE_FAILURES,
  type ErrorCode,
} from '../../../ground/api/error-codes.js';
import { bodySchema, type BodyFields } from '../../../ground/core/body-fields.js';
import {
  DRAFT_BODIES,
  MOST_PUBLISHES,
  type AnsweredChange,
  type DraftAnswer,
  type DraftsAnswer,
  type HistoryAnswer,
  type PublishAnswer,
  type SheetAnswer,
} from '../../../state/curation/draft-answers.js';
import { answerRead, answerWrite } from '../handle-body.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { jsonAnswer, objectOf, schemaRef, type Schema } from '../openapi/types.js';
import type { PostRoute } from '../route.js';
import { listOf } from './curation.js';

const TEXT = { type: 'string' };
const NAME_OR_NULL = (description: string): Schema => ({ type: ['string', 'null'], description });
const WRITTEN = {
  author: NAME_OR_NULL('The name of the key or of the person; null if the service needs no keys.'),
  at: { ...TEXT, description: 'ISO 8601.' },
};
const CAMPAIGN = { anyOf: [schemaRef('campaign'), { type: 'null' }] };
const CHANGES = {
  type: 'array',
  items: objectOf<AnsweredChange>({
    campaign: { ...TEXT, description: 'Its name.' },
    before: { ...CAMPAIGN, description: 'Null: there was none.' },
    after: { ...CAMPAIGN, description: 'Null: it is removed.' },
    keys: { type: 'array', items: TEXT, description: 'The keys that differ, such as `pin`.' },
  }),
};

/** An object whose note may be missing. */
function withNote(of: Schema): Schema {
  return { ...of, properties: { ...(of['properties'] as Schema), note: TEXT } };
}

const DRAFT = withNote(
  objectOf<Omit<DraftAnswer, 'note'>>({
    draft: { ...TEXT, description: 'Its name.' },
    version: { ...TEXT, description: 'It differs after every write of the draft.' },
    ...WRITTEN,
    changes: CHANGES,
    conflicts: { type: 'array', items: TEXT, description: 'The campaigns that others published since.' },
  }),
);
const DRAFTS = objectOf<DraftsAnswer>({ list: TEXT, drafts: { type: 'array', items: DRAFT } });
const published = {
  publish: NAME_OR_NULL('The id; null if nothing changed, since it was in service already.'),
  ...WRITTEN,
  draft: NAME_OR_NULL('The draft; null if another publish is undone.'),
  undoes: NAME_OR_NULL('The publish that this one undoes.'),
  changes: CHANGES,
};
const PUBLISH = withNote(objectOf<Omit<PublishAnswer, 'note'>>({ list: TEXT, ...published }));
const HISTORY = objectOf<HistoryAnswer>({
  list: TEXT,
  publishes: {
    type: 'array',
    description: 'The latest first.',
    items: withNote(objectOf<Omit<HistoryAnswer['publishes'][number], 'note'>>(published)),
  },
});

const SHEET = objectOf<SheetAnswer>({
  list: TEXT,
  campaigns: { type: 'integer', description: 'How many campaigns it has.' },
  file: { ...TEXT, contentEncoding: 'base64', contentMediaType: 'text/csv', description: 'Its bytes.' },
});

/** A sheet as a German spreadsheet writes it. */
const SHEET_EXAMPLE = Buffer.from(
  'campaign;from;until;category;action;target;value\r\nfriday;27.11.2026;30.11.2026;tv;pin;p42;1\r\n',
).toString('base64');

const CAMPAIGNS = {
  friday: { from: '2026-11-27', until: '2026-11-30', on: { category: ['tv'] }, pin: { '1': 'p42' } },
};

/** What the fields of the bodies mean. */
const FIELDS: Readonly<Record<string, Schema>> = {
  draft: { description: 'The name of the draft.' },
  campaigns: { additionalProperties: CAMPAIGN, description: 'Campaigns by name; null removes one.' },
  note: { description: 'Why.' },
  version: {
    description: 'The version of the draft that was read. If others saved it since, nothing changes.',
  },
  rebase: { description: 'Whether what is in service counts as seen, for these campaigns.' },
  most: { description: 'How many; by default 20.' },
  publish: { description: 'Its id.' },
  file: { contentMediaType: 'text/csv', description: 'The bytes of the sheet.' },
  form: {
    description:
      '`german`: semicolons, `27.11.2026` and `1,5`, as a German spreadsheet opens and writes it; by default `plain`.',
  },
};
const OWN_FIELDS: { readonly [Name in keyof typeof DRAFT_BODIES]?: typeof FIELDS } = {
  discard: { campaigns: { description: 'The names of campaigns; without it, all.' } },
};

function partsOf(fields: BodyFields, parts: typeof FIELDS): Record<string, Schema> {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, parts[name] ?? {}]));
}

/** What a route does. */
interface Told {
  readonly path: string;
  readonly operation: string;
  readonly scope: 'curation:draft' | 'curation:publish';
  /** Undefined if it only reads. */
  readonly writes?: true;
  readonly summary: string;
  readonly description: string;
  readonly answer: Schema;
  /** The fields of an example, besides the list. */
  readonly example: Schema;
  readonly problems: readonly ErrorCode[];
}

const ROUTES: { readonly [Name in keyof typeof DRAFT_BODIES]: Told } = {
  put: {
    path: 'draft/put',
    operation: 'put_draft',
    scope: 'curation:draft',
    writes: true,
    summary: 'Save campaigns in a draft',
    description:
      'Saves campaigns in a draft, beside those that it has; null removes a campaign. Nothing of it is in service. The draft ' +
      'keeps what each campaign was when it was first saved there; `rebase` takes what it is now.',
    answer: DRAFT,
    example: { draft: 'friday', campaigns: CAMPAIGNS },
    problems: ['curation_changed'],
  },
  get: {
    path: 'draft/get',
    operation: 'get_drafts',
    scope: 'curation:draft',
    summary: 'Read the drafts of a list',
    description: 'Reads the drafts of a list, or one of them.',
    answer: DRAFTS,
    example: {},
    problems: ['unknown_draft'],
  },
  discard: {
    path: 'draft/discard',
    operation: 'discard_draft',
    scope: 'curation:draft',
    writes: true,
    summary: 'Discard a draft',
    description: 'Removes some campaigns from a draft, or without `campaigns` all of it.',
    answer: DRAFTS,
    example: { draft: 'friday' },
    problems: ['unknown_draft', 'curation_changed'],
  },
  publish: {
    path: 'publish',
    operation: 'publish_draft',
    scope: 'curation:publish',
    writes: true,
    summary: 'Publish a draft',
    description:
      'Puts all changes of a draft in service, or none, and removes the draft. If others published a change of the same campaign ' +
      'since, `conflicts` has both sides. All instances use the rules within two seconds.',
    answer: PUBLISH,
    example: { draft: 'friday' },
    problems: ['unknown_draft', 'curation_conflict', 'curation_changed'],
  },
  history: {
    path: 'history',
    operation: 'list_publishes',
    scope: 'curation:draft',
    summary: 'Read what was published',
    description: `Reads what was published of a list; the last ${MOST_PUBLISHES} publishes are kept.`,
    answer: HISTORY,
    example: { most: 20 },
    problems: [],
  },
  undo: {
    path: 'undo',
    operation: 'undo_publish',
    scope: 'curation:publish',
    writes: true,
    summary: 'Undo a publish',
    description:
      'Publishes the reverse of what was published, and of nothing else. If a later publish changed the same campaign, ' +
      '`conflicts` names it.',
    answer: PUBLISH,
    example: { publish: '17-3fa9c1' },
    problems: ['unknown_publish', 'curation_conflict', 'curation_changed'],
  },
  upload: {
    path: 'draft/upload',
    operation: 'upload_draft',
    scope: 'curation:draft',
    writes: true,
    summary: 'Save the campaigns of a sheet in a draft',
    description:
      'Saves the campaigns of a CSV file in a draft, as `draft/put` does: all of them, or none. It may be as Excel writes it: with ' +
      'semicolons, in Windows-1252, with German days and numbers. `rows` of an error has the line, the column and the remedy of each wrong cell.',
    answer: DRAFT,
    example: { draft: 'friday', file: SHEET_EXAMPLE },
    problems: ['curation_changed'],
  },
  export: {
    path: 'export',
    operation: 'export_campaigns',
    scope: 'curation:draft',
    summary: 'Read the campaigns of a list as a sheet',
    description:
      'The campaigns in service, or as they are once a draft is published, as a CSV file that spreadsheets open. A cell that would begin a formula has an apostrophe before it.',
    answer: SHEET,
    example: { form: 'german' },
    problems: ['unknown_draft'],
  },
};

/** The path of a route. */
export const draftPath = (name: keyof typeof ROUTES): string => `/api/v1/curation/${ROUTES[name].path}`;

export const DRAFT_ROUTES: readonly PostRoute[] = (Object.keys(ROUTES) as (keyof typeof ROUTES)[]).map(
  (name) => {
    const { operation, scope, writes, summary, description, answer, example, problems } = ROUTES[name];
    const [fields, own] = [DRAFT_BODIES[name] as BodyFields, OWN_FIELDS[name] ?? {}];
    return {
      path: draftPath(name),
      scope,
      // People call them from the workbench, which only a listener for operators has.
      audience: 'everyone',
      method: 'POST',
      class: 'upload',
      ...(writes === undefined ? {} : { writes }),
      body: {
        limit: name === 'put' || name === 'upload' ? 'uploadBytes' : 'otherBytes',
        entityTypes: undefined,
        schema: (api) => ({
          ...bodySchema(fields, partsOf(fields, { ...FIELDS, ...own, list: listOf(api) })),
          additionalProperties: false,
        }),
        examples: ({ curationLists: [list] }) =>
          list === undefined ? {} : { [name]: { summary, value: { list, ...example } } },
      },
      handler: ({ drafts }) =>
        (writes === undefined ? answerRead : answerWrite)((body, _span, who) => drafts[name](body, who)),
      operation: () => ({
        operationId: operation,
        tags: ['Curation'],
        summary,
        description,
        responses: {
          200: jsonAnswer('Done.', answer),
          ...problemResponses([
            ...BODY_PROBLEMS,
            'unknown_curation',
            ...problems,
            ...(writes === undefined ? STORE_READ_FAILURES : STORE_WRITE_FAILURES),
            ...(writes === undefined ? [] : (['store_partial_write'] as const)),
          ]),
        },
      }),
    } satisfies PostRoute;
  },
);
