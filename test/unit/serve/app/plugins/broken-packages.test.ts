/** Packages that are broken, each in its own way, and the exact diagnostics. UPDATE_GOLDEN=1 rewrites the file. */
import { expect } from 'chai';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { compileProject } from '../../../../../runtime/serve/app/project/compile-project.js';
import { renderDiagnostics } from '../../../../../runtime/project/config/diagnostics/render.js';
import { repositoryPath } from '../../../../support/repository.js';

const GOLDEN = repositoryPath('test/unit/serve/app/plugins/golden/broken-packages.txt');
const NAME = '@acme/millrace-geo';
const MODULE = './index.js';

interface Broken {
  /** How it is broken. */
  readonly title: string;
  /** The text of its index.js; undefined if it has none. */
  readonly code?: string | undefined;
  /** Members of its package.json that replace others. */
  readonly manifest?: object;
  /** The whole text of its package.json. */
  readonly manifestText?: string;
  /** The entry under `plugins:`. */
  readonly entry?: string;
  /** The step of the pipeline. */
  readonly step?: string;
  /** Makes it different on disk. @param folder of the package @param outside a folder outside the project */
  readonly change?: (folder: string, outside: string) => Promise<void>;
}

const rule = (
  members = '',
  create = 'create: () => ({ apply: () => ({ applied: 0, skipped: 0 }) })',
): string =>
  `{ name: 'near', kind: 'rule', summary: 'A test.', options: { type: 'object', additionalProperties: false }, ${create}, ${members} }`;
const exporting = (...plugins: readonly string[]): string =>
  `export const plugins = [${plugins.join(', ')}];\n`;

const BROKEN: readonly Broken[] = [
  { title: 'is not installed', entry: '@acme/millrace-maps' },
  { title: 'has a misspelt name', entry: '@acme/milrace-geo' },
  { title: 'is named with its version', entry: '@acme/millrace-geo@1.0.0' },
  { title: 'is named by a path', entry: '../geo' },
  { title: 'has no package.json', change: (folder) => rm(join(folder, 'package.json')) },
  { title: 'has a package.json that is not JSON', manifestText: '{ "name": ' },
  { title: 'declares no plugins', manifestText: '{ "name": "@acme/millrace-geo", "type": "module" }' },
  { title: 'hides its fields in __proto__', manifestText: '{ "__proto__": { "millrace": { "api": "*" } } }' },
  { title: 'misspells a field', manifest: { millrace: { api: '^1.0', plugin: MODULE } } },
  { title: 'has a range that cannot be read', manifest: { millrace: { api: 'one', plugins: MODULE } } },
  { title: 'needs another version of the API', manifest: { millrace: { api: '^2.0', plugins: MODULE } } },
  {
    title: 'names a file that does not exist',
    manifest: { millrace: { api: '^1.0', plugins: './dist/geo.js' } },
  },
  {
    title: 'names a file outside the package',
    manifest: { millrace: { api: '^1.0', plugins: '../../../x.js' } },
  },
  {
    title: 'has a module that is a link out of the package',
    async change(folder, outside) {
      await rm(join(folder, 'index.js'));
      await writeFile(join(outside, 'evil.js'), exporting(rule()));
      await symlink(join(outside, 'evil.js'), join(folder, 'index.js'));
    },
  },
  {
    title: 'is a link that leaves the project',
    async change(folder, outside) {
      await rm(folder, { recursive: true });
      await symlink(outside, folder);
    },
  },
  { title: 'is CommonJS', code: 'exports.plugins = [];', manifest: { type: 'commonjs' } },
  {
    title: 'names a file that is not JavaScript',
    manifest: { millrace: { api: '^1.0', plugins: './package.json' } },
  },
  { title: 'has a syntax error', code: 'export const plugins = [' },
  { title: 'throws at import', code: 'throw new Error("no licence");' },
  { title: 'imports a package that is not installed', code: "import 'left-pad-of-acme';" },
  {
    title: 'awaits at its top level what never comes',
    code: 'await new Promise(() => setTimeout(() => 0, 1));',
  },
  { title: 'changes Object.prototype', code: `Object.prototype.polluted = 1;\n${exporting(rule())}` },
  { title: 'has a default export', code: `export default ${rule()};` },
  { title: 'exports nothing', code: '' },
  { title: 'exports an object for the list', code: `export const plugins = ${rule()};` },
  { title: 'lists a function', code: exporting('() => 1') },
  { title: 'lists a promise', code: exporting(`Promise.resolve(${rule()})`) },
  {
    title: 'has a plugin with a getter that throws',
    code: exporting("{ get name() { throw new Error('boo'); } }"),
  },
  { title: 'has a plugin called __proto__', code: exporting(rule("name: '__proto__'")) },
  { title: 'has a plugin of an unknown kind', code: exporting(rule("kind: 'rules'")) },
  { title: 'has an options schema that is not valid', code: exporting(rule("options: { type: 'objekt' }")) },
  { title: 'has a plugin whose name Millrace has', code: exporting(rule("name: 'boost'")) },
  { title: 'has two plugins of one name', code: exporting(rule(), rule()) },
  {
    title: 'has a store engine without `open`',
    code: "export const stores = [{ name: 'memory', summary: 'A test.' }];",
  },
  {
    title: 'creates something else than a component',
    code: exporting(rule('', 'create: () => 5')),
    step: 'use: near',
  },
  {
    title: 'throws in `create`',
    code: exporting(rule('', 'create() { throw new TypeError("no luck"); }')),
    step: 'use: near',
  },
];

describe('a package of plugins that', () => {
  const told = new Map<string, string>();

  for (const broken of BROKEN) {
    it(broken.title, async () => {
      const text = await diagnosticsOf(broken);
      told.set(broken.title, text);
      expect(text, 'one error')
        .to.match(/^[^\n]*error\[/)
        .and.not.match(/\n[^\n]*error\[/);
      expect(text, 'a stack trace').not.to.match(/\n\s+at /);
      expect(text).to.match(/^(?:millrace\.yaml:3:\d+|pipelines\/ranking\.yaml:4:\d+): /);
    });
  }

  it('is broken has the expected diagnostics', async () => {
    // With `-g` a part of the cases ran before.
    for (const broken of BROKEN)
      if (!told.has(broken.title)) told.set(broken.title, await diagnosticsOf(broken));
    const text = Array.from(told, ([title, shown]) => `# a package that ${title}\n${shown}\n`).join('\n');
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, text);
    expect(existsSync(GOLDEN), `${GOLDEN}; write it with UPDATE_GOLDEN=1`).to.equal(true);
    expect(text).to.equal(readFileSync(GOLDEN, 'utf8'));
  });

  it('changes no prototype of the language for good', () => {
    expect('polluted' in {}).to.equal(false);
  });
});

async function diagnosticsOf(broken: Broken): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), 'millrace-packages-'));
  const [root, outside] = [join(base, 'project'), join(base, 'outside')];
  const folder = join(root, 'node_modules', NAME);
  const manifest = {
    name: NAME,
    version: '2.1.0',
    type: 'module',
    millrace: { api: '^1.0', plugins: MODULE },
    ...broken.manifest,
  };
  const files = {
    'millrace.yaml': `project: shop\nplugins:\n  - "${broken.entry ?? NAME}"\n`,
    'pipelines/ranking.yaml': `pipeline: ranking\nrank: product\ncomponents:\n  - ${broken.step ?? 'use: score\n    with: { value: 1 }'}\n`,
    [`node_modules/${NAME}/package.json`]: broken.manifestText ?? JSON.stringify(manifest),
    [`node_modules/${NAME}/index.js`]: broken.code ?? exporting(rule()),
  };
  try {
    await mkdir(outside, { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    await broken.change?.(folder, outside);
    // The module that never ends does not end in any time.
    const compiled = await compileProject(root, {
      importMs: broken.title.includes('never comes') ? 50 : 60_000,
    });
    await compiled.close();
    const text = renderDiagnostics(compiled.diagnostics, { color: false, width: 100 });
    return text.replaceAll(base, '/base').replaceAll(/file:\/\/\S*?\/base/g, '/base');
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}
