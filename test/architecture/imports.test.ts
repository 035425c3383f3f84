import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { STORE_ENGINES } from '../../runtime/project/settings/store-engines.js';
import { repositoryPath } from '../support/repository.js';
import { importsIn, type Import } from './support/imports.js';

const ROOT = repositoryPath();

/** Returns the imports that break a rule, as `file → import`. */
const breaches = (imports: readonly Import[], broken: (one: Import) => boolean): string[] =>
  imports.filter(broken).map(({ file, of }) => `${file} → ${of}`);

describe('allowed imports', () => {
  const runtime = importsIn('runtime');
  const plugins = importsIn('plugins');

  it('are checked on a non-empty list of imports', () => {
    expect(runtime.length).to.be.greaterThan(200);
    expect(plugins.length).to.be.greaterThan(20);
  });

  it('api does no I/O', () => {
    const inApi = runtime.filter(({ file }) => file.startsWith('runtime/ground/api/'));
    expect(breaches(inApi, ({ of }) => of.startsWith('node:'))).to.be.empty;
  });

  it('plugins import millrace/api and their own folder', () => {
    const broken = ({ file, of, ours }: Import): boolean =>
      ours && !of.startsWith(`${file.split('/').slice(0, 2).join('/')}/`);
    expect(breaches(plugins, broken)).to.be.empty;
  });

  it('tsyringe is imported only in container, compile and api/tokens', () => {
    const allowed = /^runtime\/(serve\/app\/|request\/compile\/|ground\/api\/tokens\.ts)/;
    expect(breaches(runtime, ({ file, of }) => of === 'tsyringe' && !allowed.test(file))).to.be.empty;
  });

  it('what imports tsyringe imports reflect-metadata first, because any module may be the first that is loaded', () => {
    const files = new Set(runtime.map(({ file }) => file));
    const broken = [...files].filter((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      return /^import \{[^}]*\} from 'tsyringe'/m.test(text) && !/^import 'reflect-metadata';/.test(text);
    });
    expect(broken).to.be.empty;
  });

  it('the service loads no code that learns', () => {
    const inServe = runtime.filter(({ file }) => file.startsWith('runtime/serve/'));
    expect(breaches(inServe, ({ of }) => of.startsWith('runtime/learn/'))).to.be.empty;
  });

  it('reports render what they get: they open no file but the one they write, no store and no service', () => {
    const reports = runtime.filter(({ file }) => file.startsWith('runtime/cli/report/'));
    expect(reports).not.to.be.empty;
    const opens = /^node:(fs|net|http|child_process)|^runtime\/(serve|state\/store|cli\/commands)\//;
    const broken = ({ file, of }: Import): boolean => opens.test(of) && !file.endsWith('/output.ts');
    expect(breaches(reports, broken)).to.be.empty;
  });

  it('published code imports nothing from test, bench or scripts', () => {
    expect(breaches([...runtime, ...plugins], ({ of }) => /^(test|bench|scripts)\//.test(of))).to.be.empty;
  });

  it('texts are normalized in one place, where long runs of marks take no long time', () => {
    const files = new Set([...runtime, ...plugins].map(({ file }) => file));
    const found = [...files].filter((file) => /\.normalize\(/.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(found).to.deep.equal([]);
    const only = readFileSync(join(ROOT, 'runtime/ground/core/unicode-form.ts'), 'utf8');
    expect(only.match(/\.normalize\(/g)).to.have.length(1);
  });

  it('only the entry files end the process or handle its signals', () => {
    const entries =
      /^runtime\/(main|cli\/bin|cli\/shadow\/arm-process|serve\/app\/(serve|process\/[\w-]+|workers\/serve-(with-workers|as-worker)))\.ts$/;
    const files = new Set([...runtime, ...plugins].map(({ file }) => file));
    const found = [...files].filter((file) =>
      /process\.(exit\(|on\(|once\()|close-with-grace/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(found.filter((file) => !entries.test(file))).to.be.empty;
  });

  it('only the table of store engines tells one by its name', () => {
    const name = `'(${STORE_ENGINES.join('|')})'`;
    const compared = new RegExp(`[!=]==?\\s*${name}|${name}\\s*[!=]==?|case\\s+${name}`);
    // The configuration of another system has words of its own.
    const others = 'runtime/project/starter/metarank/project.ts';
    const files = new Set([...runtime, ...plugins].map(({ file }) => file));
    const found = [...files].filter((file) => compared.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(found).to.deep.equal([others]);
  });

  it('no text becomes code', () => {
    const files = new Set([...runtime, ...plugins].map(({ file }) => file));
    const found = [...files].filter((file) =>
      /(?<!\.)\beval\(|new Function\(|from 'node:vm'/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(found).to.be.empty;
  });
});
