import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryPath } from '../support/repository.js';
import { importsIn, type Import } from './support/imports.js';
import { circlesOf, layersOf, upwardImports } from './support/layers.js';

const page = readFileSync(join(repositoryPath(), 'docs', 'architecture.md'), 'utf8');

/**
 * docs/architecture.md lists the layers, lowest first. This suite checks every file of `runtime` against that list.
 */
describe('layers', () => {
  const layers = layersOf(page);
  const runtime = importsIn('runtime');

  it('name every folder of runtime in docs/architecture.md, and no other folder', () => {
    const folders = new Set(runtime.flatMap(({ file }) => file.split('/').slice(1, -1)[0] ?? []));
    expect([...layers].sort()).to.deep.equal([...folders].sort());
  });

  it('import only lower layers, including types', () => {
    expect(upwardImports(runtime, layers)).to.deep.equal([]);
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
