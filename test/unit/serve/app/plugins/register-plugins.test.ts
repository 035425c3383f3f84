import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { compileProject } from '../../../../../runtime/serve/app/project/compile-project.js';
import { renderDiagnostics } from '../../../../../runtime/project/config/diagnostics/render.js';
import { repositoryPath } from '../../../../support/repository.js';
import { writeProject } from '../../../../support/project.js';

const PIPELINE = 'pipeline: ranking\nrank: product\ncomponents:\n  - use: broken\n';

/** What `validate` says of a project with one plugin, as text. */
async function told(files: Readonly<Record<string, string>>, pipeline = PIPELINE): Promise<string> {
  const root = await writeProject({
    'package.json': '{ "type": "module" }',
    'pipelines/ranking.yaml': pipeline,
    ...files,
  });
  try {
    const compiled = await compileProject(root);
    await compiled.close();
    return renderDiagnostics(compiled.diagnostics, { color: false, width: 200 });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** A plugin in plain code, so that it can be wrong in any way. */
const plugin = (members: string): string =>
  `export const plugin = { name: 'broken', kind: 'rule', summary: 'A test.', options: { type: 'object', additionalProperties: false }, create: () => ({ apply: () => ({ applied: 0, skipped: 0 }) }), ${members} };`;

describe("a project's own plugins", () => {
  /** The text of index.js, and parts of what is told. */
  const modules: readonly (readonly [string, string, ...string[]])[] = [
    ['cannot be parsed', 'export const plugin = {', 'it cannot be loaded'],
    ['fails while it is loaded', 'throw new Error("boom")', 'it cannot be loaded: boom'],
    [
      'exports nothing',
      '',
      'it exports no `plugin`: it exports nothing',
      'export const plugin = definePlugin',
    ],
    [
      'is its default export',
      'export default {};',
      'it exports no `plugin`: it exports default',
      'export const plugin',
    ],
    ['is a function', 'export const plugin = () => 1;', 'its `plugin` is a function'],
    [
      'has another name',
      plugin("name: 'other'"),
      "the plugin's `name` is `other`, and its folder is `broken`",
    ],
    ['has no name', plugin('name: undefined'), "the plugin's `name` is missing"],
    ['has an unknown kind', plugin("kind: 'filtre'"), '`kind` is `filtre`', 'did you mean `filter`?'],
    ['has no summary', plugin('summary: undefined'), '`summary` is missing'],
    ['has no create', plugin('create: undefined'), '`create` is missing: expected a function'],
    [
      'has its options in a promise',
      plugin('options: Promise.resolve({})'),
      '`options` are a promise',
      'awaited',
    ],
    ['has no options', plugin('options: undefined'), '`options` are missing'],
    [
      'has a wrong `amongCandidates`',
      plugin('amongCandidates: "yes"'),
      "the plugin's `amongCandidates` is `yes`: it is true or left out",
    ],
    [
      'has a wrong schema in its code',
      plugin('options: { type: "object", properties: { a: { millrace: "numbr" } } }'),
      'options at /properties/a/millrace: `millrace` does not accept `numbr`',
      'did you mean `number`?',
    ],
    ['builds nothing', plugin('create() {}'), '`create` returned nothing: a rule is an object with `apply`'],
    ['builds a number', plugin('create: () => 5'), '`create` returned `5`'],
    [
      'is a rule without `apply`',
      plugin('create: () => ({ compute() {}, outputs: {} })'),
      'has no `apply`',
      'give the plugin the kind `feature`',
    ],
    ['is a filter without `select`', plugin("kind: 'filter', create: () => ({})"), 'has no `select`'],
    ['is an effect without `run`', plugin("kind: 'effect', create: () => ({})"), 'has no `run`'],
    [
      'is a feature without outputs',
      plugin("kind: 'feature', create: () => ({ compute() {} })"),
      "the component's `outputs` are nothing",
    ],
    [
      'has an output of an unknown kind',
      plugin("kind: 'feature', create: () => ({ outputs: { value: 'nubmer' }, compute() {} })"),
      'the output `value` has the kind `nubmer`: expected one of number, bool, text',
      'did you mean `number`?',
    ],
    [
      'has an output that no name can be',
      plugin("kind: 'feature', create: () => ({ outputs: { 'My-Value': 'number' }, compute() {} })"),
      '`My-Value` cannot be the name of an output',
      '`my_value`',
    ],
    [
      'warms by a text',
      plugin("create: () => ({ apply() {}, warm: 'now' })"),
      "the component's `warm` is `now`",
    ],
    [
      'declares a scoring that does not exist',
      plugin("create: () => ({ apply() {}, scoring: 'scale' })"),
      "the component's `scoring` is `scale`: expected one of sets, changes, scales, keeps",
      'did you mean `scales`?',
    ],
    [
      'has a version that is no text',
      plugin("kind: 'model', create: () => ({ outputs: { a: 'number' }, compute() {}, version: 7 })"),
      "the component's `version` is `7`",
    ],
  ];
  for (const [what, text, ...parts] of modules) {
    it(`names the file of one that ${what}`, async () => {
      const output = await told({ 'plugins/broken/index.js': text });
      expect(output).to.match(/^plugins\/broken\/index\.js: error\[plugin_failed\]: /);
      for (const part of parts) expect(output).to.contain(part);
      expect(output, 'a stack trace').not.to.match(/\n\s+at /);
    });
  }

  it('reports a `create` that throws at the step', async () => {
    const output = await told({
      'plugins/broken/index.js': plugin('create() { throw new TypeError("no luck"); }'),
    });
    expect(output).to.contain('pipelines/ranking.yaml:4:10: error[component_failed]').and.contain('no luck');
  });

  it('reports a `need` without a name at the step', async () => {
    const output = await told({
      'plugins/broken/index.js': plugin('create(options, build) { build.need(undefined); }'),
    });
    expect(output).to.contain('pipelines/ranking.yaml:4:10').and.contain('`need` expects a name');
  });

  it('reports a folder that no plugin can be called after', async () => {
    const output = await told({ 'plugins/My-Rule/index.js': plugin('') });
    expect(output).to.contain(
      'plugins/My-Rule: error[plugin_failed]: `My-Rule` cannot be the name of a plugin',
    );
    expect(output).to.contain('`my_rule`');
  });

  it('reports a plugin that has the name of a shipped one', async () => {
    const output = await told({ 'plugins/boost/index.js': plugin("name: 'boost'") });
    expect(output).to.contain('plugins/boost: error[plugin_failed]: Millrace ships a plugin called `boost`');
  });

  /** The text of options.schema.json, which the plugin reads, and what is told with its place. */
  const schemas: readonly (readonly [string, string, string])[] = [
    [
      'no JSON',
      '{\n  "type": "object",\n  "properties": {,\n}',
      `plugins/broken/options.schema.json:3:18: error[plugin_failed]: the file is not JSON: expected `,
    ],
    [
      'a wrong `millrace`',
      '{\n  "type": "object",\n  "properties": { "value": { "millrace": "nubmer" } }\n}',
      `plugins/broken/options.schema.json:3:42: error[plugin_failed]: \`millrace\` does not accept \`nubmer\``,
    ],
    [
      'a wrong scope',
      '{\n  "properties": { "a": { "millrace": { "expression": "bool", "scope": "user" } } }\n}',
      'plugins/broken/options.schema.json:2:38: error[plugin_failed]: `millrace` is invalid: expected one of',
    ],
    [
      'an unknown type',
      '{\n  "type": "object",\n  "properties": { "value": { "type": "strnig" } }\n}',
      `plugins/broken/options.schema.json:3:38: error[plugin_failed]: this is not a valid JSON Schema`,
    ],
    [
      'an unknown keyword',
      '{\n  "type": "object",\n  "properties": { "value": { "type": "number", "minimun": 1 } }\n}',
      `plugins/broken/options.schema.json:3:48: error[plugin_failed]: JSON Schema has no keyword \`minimun\``,
    ],
    [
      'a reference to nothing',
      '{ "properties": { "value": { "$ref": "#/$defs/none" } } }',
      `plugins/broken/options.schema.json:1:1: error[plugin_failed]: the options schema is not valid`,
    ],
  ];
  for (const [what, text, message] of schemas) {
    it(`shows the place of ${what} in the options schema`, async () => {
      const output = await told({
        'plugins/broken/options.schema.json': text,
        'plugins/broken/index.js': `import { readFileSync } from 'node:fs';
${plugin("options: JSON.parse(readFileSync(new URL('options.schema.json', import.meta.url), 'utf8'))")}`,
      });
      expect(output).to.contain(message);
      expect(output.match(/error\[/g)).to.have.length(1);
      expect(output, 'a stack trace').not.to.match(/\n\s+at /);
    });
  }

  /** A feature that imports the API in some way, and throws one of its errors. */
  const throwing = (imports: string, exported: string): string => `${imports}
${exported} = definePlugin({ name: 'broken', kind: 'rule', summary: 'A test.', options: { type: 'object' },
  create() { throw new OptionError([], 'of the running copy'); } });`;

  it('import the copy of `millrace/api` that runs, without node_modules', async () => {
    const output = await told({
      'plugins/broken/index.js': throwing(
        "import { definePlugin, OptionError } from 'millrace/api';",
        'export const plugin',
      ),
    });
    expect(output).to.contain('error[invalid_option]: of the running copy');
  });

  it('require the copy of `millrace/api` that runs, from CommonJS', async () => {
    const output = await told({
      'package.json': '{}',
      'plugins/broken/index.js': throwing(
        "const { definePlugin, OptionError } = require('millrace/api');",
        'exports.plugin',
      ),
    });
    expect(output).to.contain('error[invalid_option]: of the running copy');
  });

  it('recognises the errors of another copy of Millrace', async () => {
    // A URL with a query is another module, as a copy in another folder is.
    const copy = `file://${repositoryPath('dist/runtime/ground/sdk/index.js')}?copy`;
    const plain = `file://${repositoryPath('dist/runtime/ground/api/option-error.js')}?copy`;
    const output = await told({
      'plugins/broken/index.js': throwing(
        `import { definePlugin } from ${JSON.stringify(copy)};\nimport { OptionError } from ${JSON.stringify(plain)};`,
        'export const plugin',
      ),
    });
    expect(output).to.contain('error[invalid_option]: of the running copy');
  });

  it('import the running copy although the project has another', async () => {
    const root = await writeProject({
      'package.json': '{ "type": "module" }',
      'pipelines/ranking.yaml': PIPELINE,
      'node_modules/millrace/package.json': '{ "name": "millrace", "exports": { "./api": "./api.js" } }',
      'node_modules/millrace/api.js': 'throw new Error("the other copy");',
      'plugins/broken/index.js': throwing(
        "import { definePlugin, OptionError } from 'millrace/api';",
        'export const plugin',
      ),
    });
    const { diagnostics } = await compileProject(root);
    await rm(root, { recursive: true, force: true });
    expect(diagnostics.map(({ message }) => message)).to.deep.equal(['of the running copy']);
  });

  it('says once that plugins are not compiled, and nothing of the steps that use them', async () => {
    const sources = (names: readonly string[]): Record<string, string> =>
      Object.fromEntries(names.map((name) => [`plugins/${name}/index.ts`, '']));
    const pipeline = {
      'pipelines/ranking.yaml':
        'pipeline: ranking\nrank: product\ncomponents:\n  - use: own\n  - use: score\n    with: { value: own:score }\n',
    };
    const cases: readonly (readonly [names: readonly string[], place: string, told: string])[] = [
      [
        ['own'],
        'plugins/own',
        'there is no compiled index.js a plugin written in TypeScript has to be compiled first: run `npx --no tsc`',
      ],
      [
        ['own', 'other'],
        'plugins',
        '2 plugins have no compiled index.js: plugins/other, plugins/own a plugin written',
      ],
      [
        ['boost', 'bury', 'filter', 'linear', 'pin', 'score'],
        'plugins',
        '6 plugins have no compiled index.js: plugins/boost, plugins/bury, plugins/filter, plugins/linear, plugins/pin and 1 more remove the folders',
      ],
    ];
    for (const [names, place, told] of cases) {
      const root = await writeProject({ ...pipeline, ...sources(names) });
      const { diagnostics } = await compileProject(root);
      await rm(root, { recursive: true, force: true });
      expect(diagnostics.map(({ code, at }) => `${code} ${at.file.path}`)).to.deep.equal([
        `plugin_failed ${place}`,
      ]);
      expect(`${diagnostics[0]?.message ?? ''} ${diagnostics[0]?.help ?? ''}`).to.contain(told);
    }
  });
});
