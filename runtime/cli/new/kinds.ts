import type { ProjectConfig } from '../../project/config/model/project.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { TITLES } from '../../project/starter/column-words.js';

/** What a new file can be made from. */
export interface NewContext {
  readonly name: string;
  /** The project as its files declare it; its pipelines may have errors. */
  readonly config: Pick<ProjectConfig, 'entities' | 'views' | 'pipelines'>;
  /** The names of its pipelines. */
  readonly pipelines: readonly string[];
}

/** A kind of file that `millrace new` makes. */
export interface NewKind {
  /** One line, for the help. */
  readonly summary: string;
  /** Of the project. */
  readonly folder: string;
  /** The name of its JSON Schema, if it is not that of the kind. */
  readonly schema?: string;
  /**
   * The file, without the line that names its schema. It passes `millrace validate`.
   * @throws CommandFailure if the project lacks what it needs
   */
  readonly text: (context: NewContext) => string;
}

/** What `millrace new` makes, by the word that names it. */
export const NEW_KINDS: Readonly<Record<string, NewKind>> = {
  pipeline: { summary: 'a pipeline, in pipelines/', folder: 'pipelines', text: pipelineText },
  entity: {
    summary: 'an entity type, in schemas/entities/',
    folder: 'schemas/entities',
    text: ({ name }) =>
      [
        `entity: ${name}`,
        ...(name === 'product' ? ['extends: ProductEntity'] : []),
        ...(name === 'request'
          ? []
          : ['attributes:', '  name: string # int, float, bool, timestamp, list(string), ref(brand) …']),
        '',
      ].join('\n'),
  },
  view: {
    summary: 'a feature view, in schemas/features/',
    folder: 'schemas/features',
    schema: 'feature-view',
    text: ({ name, config }) => `view: ${name}
of: [${rankedType(config)}] # several types: one row for each pair
ttl: 7d
features:
  clicks_30d: { type: int, default: 0 }
  ctr_30d: float
`,
  },
  counter: {
    summary: 'a counter of feedback, in schemas/counters/',
    folder: 'schemas/counters',
    text: ({ name, config }) => `counter: ${name}
of: [${rankedType(config)}]
features:
  clicks_7d: { event: click, window: 7d }
  heat: { event: click, half_life: 12h }
  ctr: { event: click, over: impression, window: 7d, prior: { weight: 100 } }
`,
  },
  test: { summary: 'a test of a pipeline, in tests/', folder: 'tests', text: testText },
  sink: {
    summary: 'a sink for the records of the ledger, in sinks/',
    folder: 'sinks',
    text: ({ name }) => `sink: ${name}
use: file # redis_stream, kafka, http, s3
take: [ranking, feedback]
with: { keep: 30d, bytes: 10GB }
`,
  },
  source: {
    summary: 'a source of feedback, entities or features, in sources/',
    folder: 'sources',
    text: ({ name }) => `source: ${name}
use: redis_stream # kafka
into: feedback # { entities: product }, { features: product_stats }
# map: segment # ga4, snowplow, metarank, or columns: { type: name, user: uid, product: item.id }
with: { url: "\${STREAM_URL:-redis://127.0.0.1:6379}", stream: ${name} }
`,
  },
  experiment: {
    summary: 'an experiment on live traffic, in experiments/',
    folder: 'experiments',
    text: experimentText,
  },
  curation: {
    summary: 'a list of dated rules of a merchandiser, in curation/',
    folder: 'curation',
    text: ({ name }) => `curation: ${name}
# A pipeline applies the list with a step: { use: curation, with: { list: ${name} } }
rules: []
# rules:
#   - query: running shoe
#     from: 2026-11-27T00:00+01:00
#     until: 2026-12-01T00:00+01:00
#     pin: { 1: p42 }
#     hide: [p9]
`,
  },
};

/** The type of the candidates: product, if nothing says otherwise. */
export function rankedType({ entities }: NewContext['config']): string {
  if (entities.get('product')?.at !== undefined) return 'product';
  const own = [...entities.values()].find(
    ({ at, name }) => at !== undefined && !['user', 'query', 'request'].includes(name),
  );
  return own?.name ?? 'product';
}

function pipelineText({ name, config }: NewContext): string {
  const type = rankedType(config);
  const attributes = [...(config.entities.get(type)?.attributes.values() ?? [])];
  const texts = attributes.filter((one) => one.type.kind === 'string').map((one) => one.name);
  const title = TITLES.find((one) => texts.includes(one)) ?? texts[0];
  const number = attributes.find((one) => one.type.kind === 'int' || one.type.kind === 'float')?.name;
  const steps =
    title === undefined
      ? [
          '  - use: score',
          `    with: { value: ${number === undefined ? 0 : `coalesce(${type}.${number}, 0)`} } # the highest comes first`,
        ]
      : [
          '  - use: text_match',
          '    as: title # title:bm25, title:overlap, title:phrase',
          `    with: { query: query.query, field: ${type}.${title} }`,
          '  - use: score',
          '    with: { value: "coalesce(title:bm25, 0)" }',
        ];
  return [
    `pipeline: ${name}`,
    `rank: ${type}`,
    'request:',
    '  candidates: {}',
    '  query: optional(query)',
    'components:',
    ...steps,
    '',
  ].join('\n');
}

function testText({ name, config, pipelines }: NewContext): string {
  const pipeline = pipelines.includes('search') ? 'search' : pipelines[0];
  if (pipeline === undefined)
    throw new CommandFailure('the project has no pipeline to test', 'make one: millrace new pipeline search');
  const type = rankedType(config);
  const key = config.entities.get(type)?.key ?? `${type}_id`;
  return `test: ${name}
pipeline: ${pipeline}
given:
  entities:
    ${type}:
      - { ${key}: first }
      - { ${key}: second }
request:
  candidates: [{ ${key}: first }, { ${key}: second }]
expect:
  order: [first, second] # equal scores keep the order sent
`;
}

function experimentText({ name, config: { pipelines } }: NewContext): string {
  const able = pipelines.filter((one) => one.task === 'rank' && unitOf(one) !== undefined);
  const pipeline = able.find(({ params }) => params.size > 0) ?? able[0];
  if (pipeline === undefined)
    throw new CommandFailure(
      'the project has no pipeline whose requests name an entity to experiment on',
      'add one to the request of a pipeline: user: optional(user)',
    );
  const param = [...pipeline.params.values()][0];
  const arm =
    param === undefined
      ? '{} # params: { w_pop: 0.5 }, or pipeline: search_v2'
      : `{ params: { ${param.name}: ${param.range?.max ?? param.value} } } # or pipeline: another`;
  return `experiment: ${name}
pipeline: ${pipeline.name}
unit: ${unitOf(pipeline) ?? ''} # every request of one gets the same arm
share: 10%
arms:
  control: {}
  changed: ${arm}
metrics:
  primary: { event: click, within: 1d }
`;
}

/** The user, or another entity of the request that is not its subject. */
function unitOf({ request }: NewContext['config']['pipelines'][number]): string | undefined {
  const names = [...request.fields.values()].flatMap(({ kind, name }) => (kind === 'entity' ? [name] : []));
  return names.includes('user') ? 'user' : names[0];
}
