import { STORE_READ_FAILURES, STORE_WRITE_FAILURES } from '../../../ground/api/error-codes.js';
import { expandReferences } from '../../../project/config/project/schema-walk.js';
import { yamlSchema } from '../../../project/config/project/schemas.js';
import type { ListUse } from '../../../state/curation/curation-binding.js';
import {
  type CurationAnswer,
  type LockedRule,
  PUT_BODY,
  type StoredCuration,
} from '../../../state/curation/curation-service.js';
import { COMPARED_TYPES, type ComparedName } from '../../../state/curation/late-expression.js';
import { LIST_BODY } from '../../../state/curation/list-writer.js';
import type { RuleWarning } from '../../../state/curation/list-warnings.js';
import { answerRead, answerWrite } from '../handle-body.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { jsonAnswer, objectOf, oneOf, schemaRef, type Schema } from '../openapi/types.js';
import type { ApiParts, PostRoute } from '../route.js';

export const listOf = ({ curationLists }: ApiParts): Schema => ({
  ...oneOf(curationLists),
  description: 'The name of a file in curation/.',
});
const VERSION: Schema = {
  type: 'string',
  description: 'Of the rules of the API: it differs after every write. Empty if there are none.',
};
const WARNINGS: Schema = {
  type: 'array',
  description:
    'Rules of the file or the API that overlap with or contradict others, as `millrace validate` warns of them; at most 50.',
  items: objectOf<RuleWarning>({
    rule: { type: 'string', description: 'Its name, such as `campaigns:api:2`.' },
    code: { type: 'string' },
    detail: { type: 'string' },
  }),
};
const EXAMPLE_RULES = [
  {
    query: 'running shoe',
    from: '2026-11-27T00:00+01:00',
    until: '2026-12-01T00:00+01:00',
    pin: { '1': 'p42' },
    hide: ['p9'],
  },
];

export const putCuration: PostRoute = {
  path: '/api/v1/curation/put',
  scope: 'curation',
  audience: 'everyone',
  method: 'POST',
  class: 'upload',
  writes: true,
  body: {
    limit: 'uploadBytes',
    entityTypes: undefined,
    schema: (api) => ({
      ...bodySchema(PUT_BODY, {
        list: listOf(api),
        rules: { items: schemaRef('curation_rule') },
        version: {
          description:
            'The version of the rules that were read. If others replaced them since, nothing changes. Without it, the last write wins.',
        },
      }),
      additionalProperties: false,
    }),
    examples: ({ curationLists: [list] }) =>
      list === undefined
        ? {}
        : {
            rules: { summary: 'a campaign', value: { list, rules: EXAMPLE_RULES } },
            none: { summary: 'no rules', value: { list, rules: [] } },
          },
  },
  handler: ({ curation }) => answerWrite((body) => curation.put(body), 'rules'),
  operation: () => ({
    operationId: 'put_curation',
    tags: ['Curation'],
    summary: 'Replace the rules of a list',
    description:
      'Replaces the rules that the list has over the API; an empty list removes them. The rules of its file stay, and are ' +
      'applied before. If a rule has an error, or the rules no longer have the `version` that is sent, nothing changes. All instances use the rules within two seconds.',
    responses: {
      200: jsonAnswer(
        'The rules are stored, and this instance uses them.',
        objectOf<CurationAnswer>({
          list: { type: 'string' },
          rules: { type: 'integer', description: 'Rules of the API.' },
          file_rules: { type: 'integer', description: 'Rules of the file.' },
          version: VERSION,
          not_in_index: {
            type: 'array',
            items: { type: 'string' },
            description: 'Ids of rules that the index does not hold; at most 50.',
          },
          warnings: WARNINGS,
        }),
        {
          list: 'campaigns',
          rules: 1,
          file_rules: 0,
          version: '9f86d081884c7d65',
          not_in_index: ['p9'],
          warnings: [],
        },
      ),
      ...problemResponses([
        ...BODY_PROBLEMS,
        'unknown_curation',
        'curation_changed',
        ...STORE_WRITE_FAILURES,
        'store_partial_write',
      ]),
    },
  }),
  schemas: () => [
    ['curation_rule', rulesSchema('rules', 'items')],
    ['campaign', rulesSchema('campaigns', 'additionalProperties')],
  ],
};

const LOCKED: Schema = {
  type: 'array',
  description: 'The rules of the file, which nothing over the API changes; at most 100.',
  items: objectOf<LockedRule>({
    rule: { type: 'string', description: 'Its name.' },
    line: { type: 'integer' },
    text: { type: 'string', description: 'As written, at most 2,000 characters.' },
  }),
};

const USES: Schema = {
  type: 'array',
  description: 'The pipelines that apply the list, and what its rules can name there.',
  items: objectOf<ListUse>({
    pipeline: { type: 'string' },
    on: {
      type: 'array',
      items: { type: 'string', enum: ['query', 'category'] },
      description: 'What campaigns can be for.',
    },
    attributes: {
      type: 'array',
      description: 'What conditions on candidates can compare.',
      items: objectOf<ComparedName>({
        name: { type: 'string' },
        type: { type: 'string', enum: COMPARED_TYPES },
      }),
    },
  }),
};

export const getCuration: PostRoute = {
  path: '/api/v1/curation/get',
  scope: 'curation:draft',
  audience: 'everyone',
  method: 'POST',
  class: 'upload',
  body: {
    limit: 'otherBytes',
    entityTypes: undefined,
    schema: (api) => ({ ...bodySchema(LIST_BODY, { list: listOf(api) }), additionalProperties: false }),
    examples: ({ curationLists: [list] }) =>
      list === undefined ? {} : { list: { summary: 'a list', value: { list } } },
  },
  handler: ({ curation }) => answerRead((body) => curation.get(body)),
  operation: () => ({
    operationId: 'get_curation',
    tags: ['Curation'],
    summary: 'Read the rules of a list',
    description:
      'Reads the rules that the list has over the API, as they were sent, and what is wrong with new rules.',
    responses: {
      200: jsonAnswer(
        'The list.',
        objectOf<StoredCuration>({
          list: { type: 'string' },
          rules: { type: 'array', items: { type: 'object' } },
          campaigns: {
            type: 'object',
            additionalProperties: schemaRef('campaign'),
            description: 'As they were published.',
          },
          version: VERSION,
          file: { type: 'string', description: 'The file of the list.' },
          file_rules: { type: 'integer', description: 'Rules of the file.' },
          locked: LOCKED,
          uses: USES,
          time_zone: { type: 'string', description: 'In which days of campaigns are whole.' },
          refused: {
            type: 'array',
            description: 'Errors of newer rules, because of which the older ones serve.',
            items: objectOf<StoredCuration['refused'][number]>({
              file: { type: 'string' },
              line: { type: 'integer' },
              column: { type: 'integer' },
              code: { type: 'string' },
              detail: { type: 'string' },
            }),
          },
          warnings: WARNINGS,
        }),
        {
          list: 'campaigns',
          rules: EXAMPLE_RULES,
          campaigns: {},
          version: '9f86d081884c7d65',
          file: 'curation/campaigns.yaml',
          file_rules: 1,
          locked: [{ rule: 'campaigns:recall', line: 3, text: '{ name: recall, hide: [p9] }' }],
          uses: [
            { pipeline: 'search', on: ['query'], attributes: [{ name: 'product.brand', type: 'text' }] },
          ],
          time_zone: 'Europe/Berlin',
          refused: [],
          warnings: [],
        },
      ),
      ...problemResponses([...BODY_PROBLEMS, 'unknown_curation', ...STORE_READ_FAILURES]),
    },
  }),
};

/** A part of the schema of curation/*.yaml, without what only editors read. */
function rulesSchema(key: 'rules' | 'campaigns', of: 'items' | 'additionalProperties'): Schema {
  const properties = expandReferences(yamlSchema('curation'))['properties'] as Record<
    string,
    Record<string, Schema>
  >;
  return properties[key]?.[of] ?? {};
}
