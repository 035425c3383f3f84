import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryPath } from '../support/repository.js';
import { importsIn, type Import } from './support/imports.js';
import { circlesOf, layersOf, upwardImports } from './support/layers.js';

const page = readFileSync(join(repositoryPath(), 'docs', 'architecture.md'), 'utf8');

describe('the top level', () => {
  it('has the folders of the table in docs/architecture.md, and no other', () => {
    const [, section = ''] = /^## Folders\n([^]*?)^## /m.exec(page) ?? [];
    // The package lacks some folders, so the page cannot link to them.
    const named = [...section.matchAll(/^\| (?:\[(\w+)\]\(\.\.\/\1\)|`(\w+)`) /gm)].map(
      ([, link, name]) => link ?? name,
    );
    const ignored = new Set(readFileSync(repositoryPath('.gitignore'), 'utf8').split('\n'));
    const folders = readdirSync(repositoryPath(), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !ignored.has(`${entry.name}/`))
      .map(({ name }) => name);
    expect(named.sort()).to.deep.equal(folders.sort());
  });
});

/**
 * docs/architecture.md lists the layers, lowest first. This suite checks every file of `runtime` against that list.
 */
describe('layers', () => {
  const layers = layersOf(page);
  const runtime = importsIn('runtime');

  it('name every folder of runtime in docs/architecture.md, and no other folder', () => {
    const layerOf = (file: string): string =>
      layers.find((layer) => file.startsWith(`runtime/${layer}/`)) ?? `no layer: ${file}`;
    const inFolders = runtime.map(({ file }) => file).filter((file) => file.split('/').length > 2);
    expect(new Set(inFolders.map(layerOf))).to.deep.equal(new Set(layers));
  });

  it('stand in wings, lowest first, and each wing has a page', () => {
    const wings = [...page.matchAll(/^\| \[([a-z]+)\]\(\.\.\/runtime\/\1\/README\.md\) /gm)].map(
      ([, wing]) => wing,
    );
    expect(wings).to.deep.equal([...new Set(layers.map((layer) => layer.split('/')[0]))]);
    const entries = readdirSync(repositoryPath('runtime'), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    expect([...wings].sort()).to.deep.equal(folders.sort());
    for (const wing of folders)
      expect(existsSync(repositoryPath('runtime', wing, 'README.md')), wing).to.be.true;
  });

  it('import only lower layers, including types', () => {
    expect(upwardImports(runtime, layers)).to.deep.equal([]);
  });

  it('are imported module by module: no wing has an index', () => {
    const indexes = runtime.filter(({ of }) => /^runtime\/[a-z]+\/index\.js$/.test(of));
    expect(indexes.map(({ file, of }) => `${file} → ${of}`)).to.deep.equal([]);
  });

  it('have no cycle of files, including types', () => {
    expect(circlesOf([...runtime, ...importsIn('plugins')])).to.deep.equal([]);
  });

  it('report an import of a higher layer', () => {
    const wrong: Import = {
      file: 'runtime/language/frame/frame.ts',
      of: 'runtime/serve/http/app.js',
      ours: true,
    };
    expect(upwardImports([...runtime, wrong], layers)).to.deep.equal([
      'runtime/language/frame/frame.ts → runtime/serve/http/app.js',
    ]);
  });

  it('report an import of the entry, and of a folder that the table does not name', () => {
    const entry: Import = { file: 'runtime/cli/run-cli.ts', of: 'runtime/main.js', ours: true };
    const stranger: Import = {
      file: 'runtime/language/frame/frame.ts',
      of: 'runtime/other/other.js',
      ours: true,
    };
    expect(upwardImports([entry, stranger], layers)).to.have.length(2);
  });

  it('report a cycle of files', () => {
    const a: Import = { file: 'runtime/ground/core/a.ts', of: 'runtime/ground/core/b.js', ours: true };
    const b: Import = { file: 'runtime/ground/core/b.ts', of: 'runtime/ground/core/a.js', ours: true };
    expect(circlesOf([a, b])).to.deep.equal([
      'runtime/ground/core/a.ts → runtime/ground/core/b.ts → runtime/ground/core/a.ts',
    ]);
  });
});
