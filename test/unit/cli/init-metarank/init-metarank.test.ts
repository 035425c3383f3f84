import { readFileSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { compileProject } from '../../../../runtime/serve/app/project/compile-project.js';
import { renderDiagnostics } from '../../../../runtime/project/config/diagnostics/render.js';
import { millrace, type CommandResult } from '../../../support/command-line.js';
import { repositoryPath } from '../../../support/repository.js';
import { withFiles } from '../../../support/temporary-files.js';

const HERE = 'test/unit/cli/init-metarank';
const CONFIG = repositoryPath(HERE, 'config.yml');
const EVENTS = repositoryPath(HERE, 'events.jsonl');

function golden(name: string, told: string): void {
  const path = repositoryPath(HERE, `${name}.expected.txt`);
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(path, told);
  expect(told).to.equal(readFileSync(path, 'utf8'));
}

/** Runs the command, and replaces the path of the folder. */
async function init(root: string, config: string, ...more: string[]): Promise<CommandResult> {
  const result = await millrace(['init', join(root, 'shop'), '--metarank', config, ...more]);
  const clean = (text: string): string => text.replaceAll(root, '').replaceAll(repositoryPath(HERE), '');
  return { ...result, stdout: clean(result.stdout), stderr: clean(result.stderr) };
}

/** The files of the new project, one after the other, without its models. */
async function filesOf(folder: string): Promise<string> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.txt'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const texts = await Promise.all(
    names.map(async (name) => `--- ${name.slice(folder.length + 1)}\n${await readFile(name, 'utf8')}`),
  );
  return texts.join('\n');
}

describe('init --metarank', () => {
  it('makes a project that compiles, and says what became of each part', () =>
    withFiles({}, async (root) => {
      const { code, stdout, stderr } = await init(root, CONFIG, '--events', EVENTS);
      expect(code).to.equal(0);
      golden('told', stdout + stderr);
      golden('project', await filesOf(join(root, 'shop')));
      const { diagnostics } = await compileProject(join(root, 'shop'));
      expect(renderDiagnostics(diagnostics, { color: false, width: 80 })).to.equal('');
    }));

  it('ranks after the import of its events', () =>
    withFiles({}, async (root) => {
      await init(root, CONFIG, '--events', EVENTS);
      const project = ['--project', join(root, 'shop'), '--store', 'embedded'];
      const env = { MILLRACE_DATA_DIR: join(root, 'data') };
      const imported = await millrace(
        [
          'ledger',
          'import',
          EVENTS,
          '--map',
          'metarank',
          '--pipeline',
          'default',
          '--out',
          join(root, 'ledger'),
          '--rejected',
          join(root, 'rejected.jsonl'),
          '--json',
          ...project,
        ],
        { env },
      );
      expect(imported.code, imported.stderr).to.equal(0);
      expect(JSON.parse(imported.stdout)).to.deep.include({ rankings: 3, feedback: { click: 3, like: 1 } });
      const ranked = await millrace(['rank', 'default', '-', '--explain', '--json', ...project], {
        env,
        stdin: JSON.stringify({
          query: { query: 'lamp' },
          user: { user_id: 'u1' },
          candidates: [{ product_id: 'p1', relevancy: 1, bm25: 2 }],
        }),
      });
      expect(ranked.code, ranked.stderr).to.equal(0);
      expect(ranked.stdout).to.contain('"p1"');
    }));

  it('needs no events: the features say the types', () =>
    withFiles({}, async (root) => {
      expect((await init(root, CONFIG)).code).to.equal(0);
      const { diagnostics } = await compileProject(join(root, 'shop'));
      expect(renderDiagnostics(diagnostics, { color: false, width: 80 })).to.equal('');
    }));

  it('says what is wrong with its files, and writes nothing then', () =>
    withFiles(
      {
        'broken.yml': 'models:\n  default: [\n',
        'other.yml': 'services: {}\n',
        'list.yml': 'features: { price: {} }\n',
        'nameless.yml': 'features: [{ type: number }]\n',
        'models.yml': 'models: [default]\n',
        'model.yml': 'models: { default: 3 }\n',
        'rows.jsonl': '{"event":"page","id":"1"}\n',
        'full/a': '',
      },
      async (root) => {
        const told: string[] = [];
        for (const name of [
          'no.yml',
          'broken.yml',
          'other.yml',
          'list.yml',
          'nameless.yml',
          'models.yml',
          'model.yml',
        ])
          told.push(`${name}\n${(await init(root, join(root, name))).stderr}`);
        told.push(`rows\n${(await init(root, CONFIG, '--events', join(root, 'rows.jsonl'))).stderr}`);
        told.push(`none\n${(await init(root, CONFIG, '--events', join(root, 'none.jsonl'))).stderr}`);
        const full = await millrace(['init', join(root, 'full'), '--metarank', CONFIG]);
        told.push(`full ${full.code}\n${full.stderr.replaceAll(root, '')}`);
        golden('mistakes', told.join(''));
        expect(await readdir(root)).not.to.include('shop');
      },
    ));

  it('prints what it did as JSON', () =>
    withFiles({}, async (root) => {
      const { stdout } = await init(root, CONFIG, '--events', EVENTS, '--json');
      const { files, notes, events, rejected } = JSON.parse(stdout) as Record<string, unknown[] | number>;
      expect(files).to.include('pipelines/default.yaml').and.to.include('MIGRATION.md');
      expect([events, rejected]).to.deep.equal([14, 1]);
      expect(notes).to.deep.include({ what: 'features.price', state: 'carried', detail: '`product.price`' });
    }));
});
