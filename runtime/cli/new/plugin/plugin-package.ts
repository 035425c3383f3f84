import { basename, relative, sep } from 'node:path';
import { API_VERSION } from '../../../ground/api/version.js';
import { PACKAGE } from '../../../ground/core/locations.js';

/** The files of a package with one plugin, by path. @param folder its path */
export function pluginPackage(name: string, folder: string): Readonly<Record<string, string>> {
  const npmName = `millrace-${name.replaceAll('_', '-')}`;
  return {
    'package.json': manifest(npmName, folder),
    'tsconfig.json': TSCONFIG,
    'README.md': readme(name, npmName, basename(folder)),
    '.gitignore': 'node_modules/\ndist/\n',
    'src/index.ts': index(name),
    [`src/${name.replaceAll('_', '-')}.ts`]: source(name),
    [`test/${name.replaceAll('_', '-')}.test.ts`]: test(name),
  };
}

/** The plugin API of this version, and every later one that is compatible. */
const RANGE = `^${API_VERSION.split('.').slice(0, 2).join('.')}`;

/** Millrace is in no package registry, so types and tests use the folder of the Millrace that writes the package. */
function manifest(npmName: string, folder: string): string {
  const millrace = `file:${relative(folder, PACKAGE).replaceAll(sep, '/')}`;
  return `${JSON.stringify(
    {
      name: npmName,
      version: '0.1.0',
      description: 'A plugin of Millrace.',
      type: 'module',
      engines: { node: '>=20' },
      millrace: { api: RANGE, plugins: './dist/src/index.js' },
      files: ['dist/src'],
      scripts: { build: 'tsc', test: 'tsc && node --test dist/test/', prepack: 'tsc' },
      devDependencies: { '@types/node': '^20.19.0', millrace, typescript: '~6.0.0' },
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

function index(name: string): string {
  return `import { ${camel(name)} } from './${kebab(name)}.js';

/** Everything that the package brings. A package can also export \`sinks\` and \`stores\`. */
export const plugins = [${camel(name)}];
`;
}

function source(name: string): string {
  return `import { definePlugin, isKnown, statusAt, Status, OptionError, type Input } from 'millrace/api';

/** What \`create\` gets: checked, with defaults, and expressions as inputs. */
interface Options {
  readonly value: Input;
  readonly half_at: number;
}

export const ${camel(name)} = definePlugin<Options>({
  name: '${name}',
  kind: 'feature',
  summary: 'Brings a number that is not negative into the range from 0 to 1.',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['value'],
    properties: {
      value: { description: 'The number of each candidate.', millrace: 'number' },
      half_at: {
        description: 'The number that becomes 0.5.',
        type: 'number',
        exclusiveMinimum: 0,
        default: 1,
      },
    },
  },

  // Called when the pipeline is compiled. An OptionError is shown at its place in the YAML.
  create({ value, half_at: halfAt }) {
    if (value.kind !== 'number') throw new OptionError(['value'], 'expected a number');
    return {
      outputs: { value: 'number' },

      // Called for each request: columns in, columns out. Cells that it does not write stay absent.
      compute(input, output) {
        const given = input.column(value as Input<'number'>);
        const scaled = output.number('value');
        for (const row of input.rows) {
          const at = row * given.stride;
          const number = given.values[at] ?? NaN;
          if (!isKnown(statusAt(given.status, at)) || number < 0) continue;
          scaled.values[row] = number / (number + halfAt);
          scaled.status[row] = Status.present;
        }
      },
    };
  },
});
`;
}

function test(name: string): string {
  return `import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FeatureComponent } from 'millrace/api';
import { absent, compute, createStep, FakeStep, stepTests } from 'millrace/testing';
import { ${camel(name)} } from '../src/${kebab(name)}.js';

describe('${name}', () => {
  // What every plugin must do, whatever it computes.
  for (const { name, run } of stepTests(${camel(name)}, [{ with: { value: 'product.price' } }])) it(name, run);

  it('scales each known number', async () => {
    const step = new FakeStep(4);
    const component = await createStep(${camel(name)}, {
      with: { value: 'product.price', half_at: 10 },
      columns: { 'product.price': step.number([10, 30, -1, absent]) },
    });
    const { value } = await compute(component as FeatureComponent, step);
    assert.deepEqual(value, [0.5, 0.75, absent, absent]);
  });

  it('refuses an option that is wrong', async () => {
    await assert.rejects(createStep(${camel(name)}, { with: { value: 'product.price', half_at: 0 } }), /half_at/);
  });
});
`;
}

function readme(name: string, npmName: string, folder: string): string {
  return `# ${npmName}

A plugin of Millrace: the step \`${name}\`.

\`\`\`yaml
components:
  - use: ${name}
    with: { value: product.price, half_at: 20 }
  - use: score
    with: { value: 'coalesce(${name}:value, 0)' }
\`\`\`

| option    | takes              | default  | meaning                       |
| --------- | ------------------ | -------- | ----------------------------- |
| \`value\`   | expression: number | required | The number of each candidate. |
| \`half_at\` | number             | \`1\`      | The number that becomes 0.5.  |

## Use it in a project

\`\`\`sh
npm pack                                              # here
npm install ../${folder}/${npmName}-0.1.0.tgz   # in the folder where Millrace is installed
\`\`\`

A package that is linked from another folder needs \`MILLRACE_LINKED_FOLDERS\`. A packed package does not.

\`\`\`yaml
# millrace.yaml
plugins: ["${npmName}"]
\`\`\`

## Develop it

\`npm test\` compiles and runs the tests. \`millrace\` in package.json has the range of versions of the plugin API that it
works with. The development dependency \`millrace\` is the folder of the Millrace that wrote this package.
`;
}
