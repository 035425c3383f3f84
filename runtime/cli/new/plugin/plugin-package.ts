import { basename, relative, sep } from 'node:path';
import { API_VERSION } from '../../../ground/api/version.js';
import { PACKAGE } from '../../../ground/core/locations.js';
import { PLUGIN_KINDS, type PluginKind } from './plugin-kinds.js';

/** What `millrace new plugin` writes. */
export interface NewPlugin {
  readonly name: string;
  readonly kind: keyof typeof PLUGIN_KINDS;
  readonly language: 'typescript' | 'javascript';
  /** The path of the package. */
  readonly folder: string;
}

/** The files of a package with one plugin, by path. */
export function pluginPackage(plugin: NewPlugin): Readonly<Record<string, string>> {
  const { name, folder, language } = plugin;
  const isTyped = language === 'typescript';
  const end = isTyped ? 'ts' : 'js';
  const npmName = `millrace-${kebab(name)}`;
  return {
    'package.json': manifest(npmName, folder, isTyped),
    ...(isTyped ? { 'tsconfig.json': TSCONFIG } : {}),
    'README.md': readme(plugin, npmName),
    '.gitignore': isTyped ? 'node_modules/\ndist/\n' : 'node_modules/\n',
    [`src/index.${end}`]: index(plugin),
    [`src/${kebab(name)}.${end}`]: source(plugin),
    [`test/${kebab(name)}.test.${end}`]: test(plugin),
  };
}

/** The plugin API of this version, and every later one that is compatible. */
const RANGE = `^${API_VERSION.split('.').slice(0, 2).join('.')}`;

/** Millrace is in no package registry, so types and tests use the folder of the Millrace that writes the package. */
function manifest(npmName: string, folder: string, isTyped: boolean): string {
  const millrace = `file:${relative(folder, PACKAGE).replaceAll(sep, '/')}`;
  const files = isTyped ? 'dist/src' : 'src';
  const scripts = isTyped
    ? { build: 'tsc', test: 'tsc && node --test dist/test/', prepack: 'tsc' }
    : { test: 'node --test test/' };
  const types = isTyped ? { '@types/node': '^20.19.0', millrace, typescript: '~6.0.0' } : { millrace };
  return `${JSON.stringify(
    {
      name: npmName,
      version: '0.1.0',
      description: 'A plugin of Millrace.',
      type: 'module',
      engines: { node: '>=20' },
      millrace: { api: RANGE, plugins: `./${files}/index.js` },
      files: [files],
      scripts,
      devDependencies: types,
    },
    null,
    2,
  )}\n`;
}

const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2023",
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "verbatimModuleSyntax": true,
    "skipLibCheck": true,
    "declaration": true,
    "rootDir": ".",
    "outDir": "dist"
  },
  "include": ["src", "test"]
}
`;

const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const kebab = (name: string): string => name.replaceAll('_', '-');

/** Fills a template, in one of the two languages. */
function filled(template: string, { name, language }: NewPlugin): string {
  const typed =
    language === 'typescript' ? template.replaceAll(/[‹›]/g, '') : template.replaceAll(/‹[^›]*›/g, '');
  return typed.replaceAll('{{name}}', name).replaceAll('{{camel}}', camel(name));
}

function index(plugin: NewPlugin): string {
  const { surface } = PLUGIN_KINDS[plugin.kind];
  return filled(
    `import { {{camel}} } from './${kebab(plugin.name)}.js';

/** Everything that the package brings. A package can also export other lists, and \`services\`. */
export const ${surface} = [{{camel}}];
`,
    plugin,
  );
}

const FACTORIES = {
  plugins: 'definePlugin',
  readers: 'defineReader',
  sinks: 'defineSink',
  sources: 'defineSource',
} as const;

function requiredOf({ options }: PluginKind): string[] {
  return Object.keys(options).filter((name) => options[name]?.['default'] === undefined);
}

function source(plugin: NewPlugin): string {
  const { kind, language } = plugin;
  const own: PluginKind = PLUGIN_KINDS[kind];
  const isTyped = language === 'typescript';
  const factory = FACTORIES[own.surface];
  const imported = [
    factory,
    'optionsSchema',
    ...own.imports,
    ...(isTyped ? own.types.map((type) => `type ${type}`) : []),
  ];
  const members = Object.entries(own.options).map(
    ([name, option]) =>
      `  readonly ${name}: ${'millrace' in option ? "Input<'number'>" : String(option['type'])};`,
  );
  const lines = [
    ...(own.node === undefined ? [] : [own.node]),
    `import { ${imported.join(', ')} } from 'millrace/api';`,
    '',
    ...(isTyped
      ? [
          '/** What `create` gets: checked, with defaults, and expressions as inputs. */',
          'interface Options {',
          ...members,
          '}',
          '',
        ]
      : []),
    `export const {{camel}} = ${factory}‹<Options>›({`,
    "  name: '{{name}}',",
    ...(own.surface === 'plugins' ? [`  kind: '${kind}',`] : []),
    `  summary: '${own.summary}',`,
    `  options: optionsSchema(${JSON.stringify(own.options, null, 2)
      .replaceAll('\n', '\n  ')
      .replaceAll(/"(\w+)":/g, '$1:')}),`,
    '',
    own.create,
    '});',
    '',
  ];
  return filled(lines.join('\n'), plugin);
}

function test(plugin: NewPlugin): string {
  const own: PluginKind = PLUGIN_KINDS[plugin.kind];
  const { imports, node, body } = own.tests;
  const hooks = body.includes('after(') ? 'after, describe, it' : 'describe, it';
  const isTyped = plugin.language === 'typescript';
  const lines = [
    ...(body.includes('assert.') ? ["import assert from 'node:assert/strict';"] : []),
    ...(node === undefined ? [] : [node]),
    `import { ${hooks} } from 'node:test';`,
    ...(isTyped && body.includes('as FeatureComponent')
      ? ["import type { FeatureComponent } from 'millrace/api';"]
      : []),
    `import { ${imports} } from 'millrace/testing';`,
    `import { {{camel}} } from '../src/${kebab(plugin.name)}.js';`,
    '',
    "describe('{{name}}', () => {",
    body.trimEnd(),
    '});',
    '',
  ];
  return filled(lines.join('\n'), plugin);
}

function readme(plugin: NewPlugin, npmName: string): string {
  const own: PluginKind = PLUGIN_KINDS[plugin.kind];
  const rows = Object.entries(own.options).map(([name, { description, default: otherwise, type }]) => {
    const given = requiredOf(own).includes(name) ? 'required' : `\`${JSON.stringify(otherwise)}\``;
    return `| \`${name}\` | ${typeof type === 'string' ? type : 'expression: number'} | ${given} | ${description} |`;
  });
  const text = `# ${npmName}

A plugin of Millrace: the ${plugin.kind} \`{{name}}\`. ${own.summary}

\`\`\`yaml
${own.yaml}
\`\`\`

| option | takes | default | meaning |
| ------ | ----- | ------- | ------- |
${rows.join('\n')}

## Use it in a project

\`\`\`sh
npm pack                                              # here
npm install ../${basename(plugin.folder)}/${npmName}-0.1.0.tgz   # in the folder where Millrace is installed
\`\`\`

A package that is linked from another folder needs \`MILLRACE_LINKED_FOLDERS\`. A packed package does not.

\`\`\`yaml
# millrace.yaml
plugins: ["${npmName}"]
\`\`\`

## Develop it

\`npm test\` runs the tests. \`millrace\` in package.json has the range of versions of the plugin API that it
works with. The development dependency \`millrace\` is the folder of the Millrace that wrote this package.
`;
  return filled(text, plugin);
}
