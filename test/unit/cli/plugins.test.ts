import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { API_VERSION } from '../../../runtime/ground/api/version.js';
import { PLUGIN_KINDS } from '../../../runtime/cli/new/plugin/plugin-kinds.js';
import { pluginPackage } from '../../../runtime/cli/new/plugin/plugin-package.js';
import { millrace } from '../../support/command-line.js';
import { repositoryPath } from '../../support/repository.js';
import { writeProject } from '../../support/project.js';

const run = promisify(execFile);

const PACKAGE = {
  'millrace.yaml': 'project: shop\nplugins: ["@acme/millrace-geo"]\n',
  'node_modules/@acme/millrace-geo/package.json':
    '{ "version": "2.1.0", "type": "module", "millrace": { "api": "^1.0", "plugins": "./index.js" } }',
  'node_modules/@acme/millrace-geo/index.js': `export const plugins = [{ name: 'near', kind: 'rule', summary: 'A test.',
    options: { type: 'object', additionalProperties: false, required: ['to'],
      properties: { to: { description: 'The place.', millrace: 'text' }, km: { description: 'The reach.', type: 'number', default: 5 } } },
    create: () => ({ apply: () => ({ applied: 0, skipped: 0 }) }) }];
    export const stores = [{ name: 'memory', summary: 'In memory.', open: async () => ({}) }];`,
};

describe('millrace plugins', () => {
  let root = '';
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('lists the plugins with what they come from, and the options of those of packages', async () => {
    root = await writeProject(PACKAGE);
    const { code, stdout, stderr } = await millrace(['plugins', '--project', root]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const lines = stdout.split('\n');
    expect(lines.find((line) => line.startsWith('boost '))).to.match(/^boost +rule +millrace +\d/);
    expect(lines).to.satisfy((all: string[]) =>
      all.some((line) => /^near +rule +@acme\/millrace-geo +2\.1\.0 +\^1\.0$/.test(line)),
    );
    expect(stdout)
      .to.match(/^memory +store +@acme\/millrace-geo/m)
      .and.match(/^to +expression: text +The place\.$/m);
    expect(Math.max(...lines.map((line) => line.length))).to.be.at.most(80);
  });

  it('prints all of it as JSON', async () => {
    root = await writeProject(PACKAGE);
    const { stdout } = await millrace(['plugins', '--json', '--project', root]);
    const { api, plugins } = JSON.parse(stdout) as { api: string; plugins: Record<string, unknown>[] };
    expect(api).to.equal(API_VERSION);
    expect(plugins.find(({ name }) => name === 'near')).to.deep.equal({
      name: 'near',
      kind: 'rule',
      from: '@acme/millrace-geo',
      version: '2.1.0',
      api: '^1.0',
      summary: 'A test.',
      options: [
        { name: 'to', takes: 'expression: text', required: true, description: 'The place.' },
        { name: 'km', takes: 'number', required: false, default: 5, description: 'The reach.' },
      ],
    });
  });

  it('reports a package that cannot be loaded, with its place', async () => {
    root = await writeProject({ 'millrace.yaml': 'project: shop\nplugins: [none-of-acme]\n' });
    const { code, stdout, stderr } = await millrace(['plugins', '--project', root]);
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.contain('millrace.yaml:2:11: error[plugin_failed]: `none-of-acme` is not installed');
  });
});

describe('millrace new plugin', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-new-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  // scripts/check-plugins.mjs builds such a package and runs its tests.
  it('writes a package that declares the plugin API of this version', async () => {
    const dir = join(folder, 'near-by');
    const { code, stdout } = await millrace(['new', 'plugin', 'near_by', '--dir', dir]);
    expect(code).to.equal(0);
    expect(stdout).to.contain('wrote 7 files');
    const manifest = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8')) as {
      name: string;
      millrace: object;
      devDependencies: { millrace: string };
    };
    expect(manifest.name).to.equal('millrace-near-by');
    expect(manifest.millrace).to.deep.equal({ api: '^1.1', plugins: './dist/src/index.js' });
    // No registry has Millrace, so types and tests use the folder of the one that runs.
    const [, millraceFolder = ''] = /^file:(.+)$/.exec(manifest.devDependencies.millrace) ?? [];
    expect(resolve(dir, millraceFolder)).to.equal(repositoryPath());
    for (const [path, text] of Object.entries(
      pluginPackage({ name: 'near_by', kind: 'feature', language: 'typescript', folder: dir }),
    ))
      expect(await readFile(join(dir, path), 'utf8'), path).to.equal(text);
  });

  const kinds = Object.keys(PLUGIN_KINDS) as (keyof typeof PLUGIN_KINDS)[];

  it('writes each kind in JavaScript, with tests that pass', async function () {
    this.timeout(120_000);
    await mkdir(join(folder, 'node_modules'));
    await symlink(repositoryPath(), join(folder, 'node_modules', 'millrace'));
    for (const kind of kinds) {
      const dir = join(folder, kind);
      const named = ['new', 'plugin', `my_${kind}`, '--kind', kind, '--language', 'javascript', '--dir', dir];
      const { code, stdout, stderr } = await millrace(named);
      expect({ code, stderr }, kind).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.contain('wrote 6 files');
      const tested = await run('node', ['--test', 'test/'], { cwd: dir }).catch((error: unknown) => error);
      const { stdout: told } = tested as { readonly stdout: string };
      expect(told, `${kind}: ${told}`)
        .to.match(/^# fail 0$/m)
        .and.not.match(/^# pass 0$/m);
    }
  });

  it('writes each kind in TypeScript, without errors of types', async function () {
    this.timeout(120_000);
    await mkdir(join(folder, 'node_modules'));
    await symlink(repositoryPath(), join(folder, 'node_modules', 'millrace'));
    await symlink(repositoryPath('node_modules/@types'), join(folder, 'node_modules', '@types'));
    for (const kind of kinds) {
      const { code } = await millrace([
        'new',
        'plugin',
        `my_${kind}`,
        '--kind',
        kind,
        '--dir',
        join(folder, kind),
      ]);
      expect(code, kind).to.equal(0);
    }
    const own = JSON.parse(await readFile(join(folder, 'feature', 'tsconfig.json'), 'utf8')) as object;
    const all = { ...own, include: kinds.flatMap((kind) => [`${kind}/src`, `${kind}/test`]) };
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(all));
    const tsc = repositoryPath('node_modules/typescript/bin/tsc');
    const checked = await run('node', [tsc, '-p', folder, '--noEmit']).catch((error: unknown) => error);
    expect((checked as { readonly stdout: string }).stdout).to.equal('');
  });

  it('refuses an unknown kind, and names the kinds', async () => {
    const { code, stderr } = await millrace(['new', 'plugin', 'near_by', '--kind', 'widget']);
    expect(code).to.equal(2);
    expect(stderr).to.contain('reader');
  });

  it('refuses a name that no plugin can have, and a folder that exists', async () => {
    const named = await millrace(['new', 'plugin', 'Near-By', '--dir', join(folder, 'x')]);
    expect(named.code).to.equal(2);
    expect(named.stderr).to.contain('`Near-By` cannot be the name of a plugin').and.contain('near_by');
    await writeFile(join(folder, 'taken'), '');
    const taken = await millrace(['new', 'plugin', 'near_by', '--dir', join(folder, 'taken')]);
    expect(taken.code).to.equal(1);
    expect(taken.stderr).to.contain('exists already').and.contain('--dir');
  });
});
