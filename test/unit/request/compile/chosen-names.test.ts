/**
 * A function is called with parentheses, so its name stays free: a function that the language gains breaks no project.
 * The places come from the schemas of the YAML files, and the names from the table of functions.
 */
import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { NAME_PATTERN, type JsonValue } from '../../../../runtime/ground/api/types.js';
import { compileProject } from '../../../../runtime/serve/app/project/compile-project.js';
import { isJsonObject } from '../../../../runtime/ground/core/value-fit.js';
import { TYPE_KINDS } from '../../../../runtime/project/config/project/parse-type.js';
import {
  EVENT_FIELDS,
  EXPRESSION_NAMES,
  KEYWORDS,
} from '../../../../runtime/project/config/project/reserved-names.js';
import { yamlSchema, type SchemaName } from '../../../../runtime/project/config/project/schemas.js';
import { projectSchema } from '../../../../runtime/project/editor/project-schema.js';
import { FUNCTIONS } from '../../../../runtime/language/expression/functions/registry.js';
import { pluginFiles, writeProject } from '../../../support/project.js';
import { repositoryPath } from '../../../support/repository.js';

type Files = Readonly<Record<string, string>>;

const NAMES = [...FUNCTIONS.keys()];

const BASE: Files = {
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures: { ctr: float }\n',
};

const pipeline = (value: string, ...lines: string[]): Files => ({
  'pipelines/search.yaml': [
    'pipeline: search',
    'rank: product',
    ...(lines.some((line) => line.startsWith('request:'))
      ? []
      : ['request: { candidates: {}, user: optional(user) }']),
    ...lines,
    ...(lines.some((line) => line.startsWith('components:')) ? [] : ['components:']),
    `  - { use: score, with: { value: "${value}" } }`,
    '',
  ].join('\n'),
});

const mapping = (names: readonly string[], value: string | ((name: string) => string)): string =>
  `{ ${names.map((name) => `${name}: ${typeof value === 'string' ? value : value(name)}`).join(', ')} }`;
const sum = (names: readonly string[], one: (name: string) => string = (name) => name): string =>
  names.map(one).join(' + ');
const each = (names: readonly string[], file: (name: string) => Files): Files =>
  Object.assign({}, ...names.map(file)) as Files;

/** A pipeline of the name p_NAME, with the param w. */
const searched = (name: string): Files => ({
  [`pipelines/p_${name}.yaml`]: `pipeline: p_${name}
rank: product
request: { candidates: {}, user: optional(user) }
params: { w: 1 }
components: [{ use: score, with: { value: w } }]
`,
});

const experiment = (name: string, of: string, layer: string, arms: readonly string[]): Files => ({
  [`experiments/${name}.yaml`]: `experiment: ${name}
pipeline: p_${of}
unit: user
share: 1%
layer: ${layer}
arms: { control: {}, ${mapping(arms, '{ params: { w: 2 } }').slice(2)}
`,
});

const curated = (campaigns: string): Files => ({
  ...pipeline('1', 'components:', '  - { use: curation, with: { list: campaigns } }'),
  'curation/campaigns.yaml': `curation: campaigns\ncampaigns: ${campaigns}\n`,
});

/** The places where a project chooses a name, and a project that chooses the names there and uses them. */
const CHOSEN: Readonly<Record<string, (names: readonly string[]) => Files>> = {
  'pipeline/define/*': (names) => pipeline(sum(names), `define: ${mapping(names, 'abs(product.price)')}`),
  'pipeline/params/*': (names) => pipeline(sum(names), `params: ${mapping(names, '1')}`),
  'pipeline/request/*': (names) =>
    pipeline(
      sum(names, (name) => `request.${name}`),
      `request: { candidates: {}, ${mapping(names, 'optional(int)').slice(2)}`,
    ),
  'pipeline/request/* of entities': (names) =>
    pipeline(
      sum(names, (name) => `if(known(${name}), 1, 0)`),
      `request: { candidates: {}, ${mapping(names, 'optional(user)').slice(2)}`,
    ),
  'pipeline/request/candidates/*': (names) =>
    pipeline(
      sum(names, (name) => `product.${name}`),
      `request: { candidates: ${mapping(names, 'float')} }`,
    ),
  'pipeline/features/[]/*': (names) =>
    pipeline(
      sum(names, (name) => `${name}:ctr`),
      'features:',
      ...names.map((name) => `  - ${name}: stats(product)`),
    ),
  'pipeline/step/as': (names) =>
    pipeline(
      sum(names, (name) => `${name}:rank`),
      'components:',
      ...names.map((name) => `  - { use: rank_within, as: ${name}, with: { value: product.price } }`),
    ),
  'pipeline/retrieve/[]/as': (names) => ({
    ...pluginFiles(
      'finds',
      'retriever',
      'return { outputs: {}, retrieve: () => ({ ids: [], columns: {} }) };',
    ),
    ...pipeline(
      sum(names, (name) => `${name}:place`),
      'retrieve:',
      ...names.map((name) => `  - { use: finds, as: ${name} }`),
    ),
  }),
  'pipeline/pipeline': (names) =>
    each(names, (name) => ({
      [`pipelines/${name}.yaml`]: `pipeline: ${name}\nrank: product\nrequest: { candidates: {} }\ncomponents: []\n`,
    })),
  'pipeline/answer/*': (names) => ({
    'pipelines/price.yaml': `pipeline: price\nscore: product\nanswer: ${mapping(names, 'product.price')}\ncomponents: []\n`,
  }),
  'entity/entity': (names) => ({
    ...each(names, (name) => ({
      [`schemas/entities/${name}.yaml`]: `entity: ${name}\nattributes: { weight: float }\n`,
    })),
    'schemas/entities/product.yaml': `entity: product\nattributes: ${mapping(names, (name) => `ref(${name})`)}\n`,
    ...pipeline(sum(names, (name) => `product.${name}.weight`)),
  }),
  'entity/key': (names) =>
    each(names, (name) => ({
      [`schemas/entities/e_${name}.yaml`]: `entity: e_${name}\nkey: ${name}\nattributes: { x: float }\n`,
    })),
  'entity/attributes/*': (names) => ({
    'schemas/entities/product.yaml': `entity: product\nattributes: ${mapping(names, 'float')}\n`,
    ...pipeline(sum(names, (name) => `product.${name}`)),
  }),
  'entity/fields/*': (names) => ({
    'schemas/entities/product.yaml': `entity: product\nattributes: { size: { record: ${mapping(names, 'float')} } }\n`,
    ...pipeline(sum(names, (name) => `product.size.${name}`)),
  }),
  'feature-view/view': (names) => ({
    ...each(names, (name) => ({
      [`schemas/features/${name}.yaml`]: `view: ${name}\nof: [product]\nfeatures: { ctr: float }\n`,
    })),
    ...pipeline(
      sum(names, (name) => `${name}:ctr`),
      `features: [${names.join(', ')}]`,
    ),
  }),
  'feature-view/features/*': (names) => ({
    'schemas/features/stats.yaml': `view: stats\nof: [product]\nfeatures: ${mapping(names, 'float')}\n`,
    ...pipeline(
      sum(names, (name) => `stats:${name}`),
      'features: [stats]',
    ),
  }),
  'feature-view/group': (names) =>
    each(names, (name) => ({
      [`schemas/features/v_${name}.yaml`]: `view: v_${name}\nof: [product]\ngroup: ${name}\nfeatures: { ctr: float }\n`,
    })),
  'counter/counter': (names) => ({
    ...each(names, (name) => ({
      [`schemas/counters/${name}.yaml`]: `counter: ${name}\nof: [product]\nfeatures: { clicks: { event: click, window: 7d } }\n`,
    })),
    ...pipeline(
      sum(names, (name) => `${name}:clicks`),
      `features: [${names.join(', ')}]`,
    ),
  }),
  'counter/features/*': (names) => ({
    'schemas/counters/live.yaml': `counter: live\nof: [product]\nfeatures: ${mapping(names, '{ event: click, window: 7d }')}\n`,
    ...pipeline(
      sum(names, (name) => `live:${name}`),
      'features: [live]',
    ),
  }),
  'curation/curation': (names) => ({
    ...each(names, (name) => ({ [`curation/${name}.yaml`]: `curation: ${name}\nrules: []\n` })),
    ...pipeline(
      '1',
      'components:',
      ...names.map((name) => `  - { use: curation, as: c_${name}, with: { list: ${name} } }`),
    ),
  }),
  'curation/rules/[]/name': (names) => ({
    'curation/list.yaml': `curation: list\nrules:\n${names.map((name) => `  - { name: ${name}, query: "q ${name}", hide: [p1] }\n`).join('')}`,
    ...pipeline(
      '1',
      'request: { candidates: {}, query: optional(query) }',
      'components:',
      '  - { use: curation, with: { list: list } }',
    ),
  }),
  'experiment/experiment': (names) =>
    each(names, (name) => ({ ...searched(name), ...experiment(name, name, `l_${name}`, ['other']) })),
  'experiment/arms/*': (names) =>
    each(names, (name) => ({ ...searched(name), ...experiment(`e_${name}`, name, `l_${name}`, [name]) })),
  'experiment/layer': (names) =>
    each(names, (name) => ({ ...searched(name), ...experiment(`e_${name}`, name, name, ['other']) })),
  'sink/sink': (names) =>
    each(names, (name) => ({
      [`sinks/${name}.yaml`]: `sink: ${name}\nuse: file\ntake: [ranking]\nwith: { keep: 30d }\n`,
    })),
  'source/source': (names) =>
    each(names, (name) => ({
      [`sources/${name}.yaml`]: `source: ${name}\nuse: redis_stream\ninto: feedback\nwith: { url: "redis://127.0.0.1:1", stream: ${name} }\n`,
    })),
  'test/test': (names) => ({
    ...pipeline('1'),
    ...each(names, (name) => ({
      [`tests/${name}.yaml`]: `test: ${name}\npipeline: search\nrequest: { candidates: [{ product_id: p1 }] }\nexpect: { order: [p1] }\n`,
    })),
  }),
  'project/project': (names) => ({ 'millrace.yaml': `project: ${names[0] ?? ''}\n` }),
  'project/events/*': (names) => ({
    'millrace.yaml': `project: shop\nevents: ${mapping(names, '{}')}\n`,
    'schemas/counters/live.yaml': `counter: live\nof: [product]\nfeatures: ${mapping(names, (name) => `{ event: ${name}, window: 7d }`)}\n`,
  }),
  'project/events/*/*': (names) => ({
    'millrace.yaml': `project: shop\nevents: { order: ${mapping(names, 'float')} }\n`,
    'schemas/counters/live.yaml': `counter: live\nof: [product]\nfeatures: ${mapping(names, (name) => `{ event: order, window: 7d, value: sum(${name}) }`)}\n`,
  }),
  'a plugin': (names) => ({
    ...each(names, (name) => pluginFiles(name, 'feature', 'return { outputs: {}, compute() {} };')),
    ...pipeline('1', 'components:', ...names.map((name) => `  - { use: ${name} }`)),
  }),
  'interaction/outputs/*': (names) =>
    pipeline(
      sum(names, (name) => `clicks:${name}`),
      'components:',
      `  - { use: interaction, as: clicks, with: { of: user, outputs: ${mapping(names, '{ event: click, window: 7d }')} } }`,
    ),
  'one_hot/categories/*': (names) =>
    pipeline(
      sum(names, (name) => `kind:${name}`),
      'components:',
      `  - { use: one_hot, as: kind, with: { of: user.user_id, categories: ${mapping(names, (name) => `text_${name}`)} } }`,
    ),
  'curation/campaigns/*': (names) => curated(mapping(names, '{ hide: [p1] }')),
  'curation/banner/place': (names) =>
    curated(`{ sale: { banner: { place: ${names[0] ?? ''}, text: Sale } } }`),
  'an output of a step': (names) => ({
    ...pluginFiles(
      'places',
      'feature',
      `const names = ${JSON.stringify(names)};
       return { outputs: Object.fromEntries(names.map((name) => [name, 'number'])), compute() {} };`,
    ),
    ...pipeline(
      sum(names, (name) => `places:${name}`),
      'components:',
      '  - { use: places }',
    ),
  }),
};

/** Options of plugins: the names of outputs. These plugins need a model or a server; `an output of a step` stands for them. */
const OUTPUTS_OF_MODELS: readonly string[] = [
  'onnx/outputs/*',
  'open_inference/outputs/*',
  'http_search/outputs/*',
  'postgres/outputs/[]',
  'opensearch/queries/*',
  'opensearch/features/*',
];

/** Further places of names in the schemas: they take a name that is chosen at another place. */
const REFERS: readonly string[] = [
  'counter/of/[]',
  'curation/list',
  'counter/features/*/event',
  'counter/features/*/over',
  'experiment/pipeline',
  'experiment/unit',
  'experiment/arm/pipeline',
  'experiment/metric/event',
  'experiment/metric/over',
  'feature-view/use',
  'feature-view/of/[]',
  'feature-view/source/feast/join_keys/*',
  'feature-view/source/feast/join_keys/*/entity',
  'feature-view/source/feast/fields/*',
  'feature-view/feast/join_keys/*',
  'feature-view/feast/fields/*',
  'feature-view/feast/json/[]',
  'feature-view/feast/services/*/[]',
  'import-map/import',
  'import-map/sources/[]/feedback/*',
  'import-map/sources/[]/event',
  'import-map/sources/[]/event/*',
  'import-map/sources/[]/feedback_at/*',
  'pipeline/rank',
  'pipeline/score',
  'pipeline/features/[]',
  'pipeline/log/unit',
  'pipeline/log/hash/[]',
  'project/services/*',
  'project/store',
  'sink/use',
  'source/use',
  'source/into/entities',
  'source/into/features',
  'source/event',
  'source/event/*',
  'source/about',
  'test/pipeline',
];

const SCHEMAS: readonly SchemaName[] = [
  'entity',
  'feature-view',
  'counter',
  'pipeline',
  'sink',
  'source',
  'experiment',
  'curation',
  'import-map',
  'test',
];

/** The places in a schema whose text is a name, such as `pipeline/define/*`. */
function placesIn(schema: JsonValue | undefined, path: readonly string[]): string[] {
  if (Array.isArray(schema)) return (schema as readonly JsonValue[]).flatMap((one) => placesIn(one, path));
  if (!isJsonObject(schema)) return [];
  const { pattern } = schema;
  const isName = typeof pattern === 'string' && pattern.startsWith(NAME_PATTERN.source.slice(0, -1));
  return [
    ...(isName ? [path.join('/')] : []),
    ...Object.entries(schema).flatMap(([key, inner]) => {
      if (key === 'properties' || key === '$defs')
        return isJsonObject(inner)
          ? Object.entries(inner).flatMap(([name, one]) => placesIn(one, [...path, name]))
          : [];
      const step = key === 'items' ? ['[]'] : /^(additionalProperties|propertyNames)$/.test(key) ? ['*'] : [];
      return placesIn(inner, [...path, ...step]);
    }),
  ];
}

/** The schemas of the options of the plugins that ship. */
function optionSchemas(): [string, JsonValue][] {
  const folder = repositoryPath('plugins');
  return readdirSync(folder).flatMap((plugin) =>
    ['options', 'source']
      .map((kind) => join(folder, plugin, `${kind}.schema.json`))
      .filter((path) => existsSync(path))
      .map((path): [string, JsonValue] => [plugin, JSON.parse(readFileSync(path, 'utf8')) as JsonValue]),
  );
}

/** Names that a place reserves, by the tables that say so. A project cannot replace a plugin that ships. */
const RESERVED: Readonly<Record<string, readonly string[]>> = {
  'a plugin': readdirSync(repositoryPath('plugins')),
  'entity/entity': TYPE_KINDS,
  'project/events/*/*': EVENT_FIELDS,
};

/** A project has at most 32 kinds of events. */
const AT_ONCE: Readonly<Record<string, number>> = {
  'project/events/*': 16,
  'project/events/*/*': 16,
  // A step has at most 64 outputs.
  'interaction/outputs/*': 32,
};

function portionsFor(place: string): string[][] {
  const names = NAMES.filter((name) => !(RESERVED[place] ?? []).includes(name));
  const size = AT_ONCE[place] ?? names.length;
  return Array.from({ length: Math.ceil(names.length / size) }, (_, i) =>
    names.slice(i * size, (i + 1) * size),
  );
}

async function errorsOf(files: Files): Promise<string[]> {
  const root = await writeProject({ ...BASE, ...files });
  try {
    const { diagnostics } = await compileProject(root);
    return diagnostics.flatMap(({ severity, message }) => (severity === 'error' ? [message] : []));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

describe('names that a project chooses', () => {
  for (const [place, project] of Object.entries(CHOSEN))
    it(`may be that of any function: ${place}`, async () => {
      for (const names of portionsFor(place)) expect(await errorsOf(project(names))).to.deep.equal([]);
    });

  it('may stand beside a call of the function', async () => {
    const errors = await errorsOf(
      pipeline('year + month', 'params: { month: 2 }', 'define: { year: year(now()) + month(now()) }'),
    );
    expect(errors).to.deep.equal([]);
  });

  it('are chosen at no place of a schema that this test does not know', () => {
    const found = [
      ...SCHEMAS.flatMap((name) => placesIn(yamlSchema(name), [name])),
      ...placesIn(projectSchema(), ['project']),
      ...optionSchemas().flatMap(([plugin, schema]) => placesIn(schema, [plugin])),
    ];
    const known = [...Object.keys(CHOSEN), ...OUTPUTS_OF_MODELS, ...REFERS];
    expect([...new Set(found)].filter((place) => !known.includes(place))).to.deep.equal([]);
    expect(REFERS.filter((place) => !found.includes(place))).to.deep.equal([]);
  });

  for (const word of KEYWORDS)
    for (const place of ['pipeline/define/*', 'pipeline/params/*', 'pipeline/request/* of entities'])
      it(`are no words of the grammar: ${place} \`${word}\``, async () => {
        const files = CHOSEN[place]?.([word]) ?? {};
        expect(await errorsOf(files)).to.deep.equal([`\`${word}\` is a word of the expression language`]);
      });

  it('are no names only if the grammar had the word from the start', () => {
    expect([...KEYWORDS]).to.have.members(['and', 'or', 'not', 'in', 'true', 'false', 'null']);
    expect([...EXPRESSION_NAMES]).to.have.members(['score', 'request']);
    expect([...KEYWORDS, ...EXPRESSION_NAMES].filter((name) => FUNCTIONS.has(name))).to.deep.equal([]);
  });
});
