import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import ts from 'typescript';
import { repositoryPath } from '../support/repository.js';

const ROOT = repositoryPath();

interface Import {
  readonly file: string;
  /** Path from the repository's root, or the package's name. */
  readonly of: string;
  readonly ours: boolean;
}

function importsIn(folder: string): Import[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join(folder, file.replaceAll('\\', '/')))
    .filter((file) => file.endsWith('.ts'));
  return files.flatMap((file) => {
    const { importedFiles } = ts.preProcessFile(readFileSync(join(ROOT, file), 'utf8'), true, true);
    return importedFiles.map(({ fileName }) => {
      const ours = fileName.startsWith('.');
      const of = ours ? relative(ROOT, join(ROOT, dirname(file), fileName)).replaceAll('\\', '/') : fileName;
      return { file, of, ours };
    });
  });
}

/** Which of the imports break a rule, as `file → import`. */
const breaches = (imports: readonly Import[], broken: (one: Import) => boolean): string[] =>
  imports.filter(broken).map(({ file, of }) => `${file} → ${of}`);

describe('who may import whom', () => {
  const runtime = importsIn('runtime');
  const plugins = importsIn('plugins');

  it('finds the imports at all', () => {
    expect(runtime.length).to.be.greaterThan(200);
    expect(plugins.length).to.be.greaterThan(20);
  });

  it('api imports nothing of ours, and does no I/O', () => {
    const inApi = runtime.filter(({ file }) => file.startsWith('runtime/api/'));
    expect(
      breaches(inApi, ({ of, ours }) => (ours ? !of.startsWith('runtime/api/') : of.startsWith('node:'))),
    ).to.be.empty;
  });

  it('plugins import runtime/api and their own folder', () => {
    const broken = ({ file, of, ours }: Import): boolean =>
      ours && !of.startsWith('runtime/api/') && !of.startsWith(`${file.split('/').slice(0, 2).join('/')}/`);
    expect(breaches(plugins, broken)).to.be.empty;
  });

  it('config, pipeline, frame, store, entities and features import neither http nor cli', () => {
    const inner = /^runtime\/(config|pipeline|frame|store|entities|features|compile|json)\//;
    const outer = /^runtime\/(http|cli)\//;
    expect(breaches(runtime, ({ file, of }) => inner.test(file) && outer.test(of))).to.be.empty;
  });

  it('tsyringe appears in container, compile and api/tokens alone', () => {
    const allowed = /^runtime\/(container\/|compile\/|api\/tokens\.ts|app\.ts)/;
    expect(breaches(runtime, ({ file, of }) => of === 'tsyringe' && !allowed.test(file))).to.be.empty;
  });

  it('nothing that ships imports from test, bench or scripts', () => {
    expect(breaches([...runtime, ...plugins], ({ of }) => /^(test|bench|scripts)\//.test(of))).to.be.empty;
  });

  it('only the entries end the process or take its signals', () => {
    const entries = new Set(['runtime/main.ts', 'runtime/cli/bin.ts', 'runtime/app/serve.ts']);
    const files = new Set([...runtime, ...plugins].map(({ file }) => file));
    const found = [...files].filter((file) =>
      /process\.(exit\(|on\(|once\()|close-with-grace/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(found.filter((file) => !entries.has(file))).to.be.empty;
  });

  it('no text becomes code', () => {
    const files = new Set([...runtime, ...plugins].map(({ file }) => file));
    const found = [...files].filter((file) =>
      /(?<!\.)\beval\(|new Function\(|from 'node:vm'/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(found).to.be.empty;
  });
});
