import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { repositoryPath } from '../support/repository.js';

/** Texts of code that are paths of the repository: `runtime/serve/http/app.ts`, `test/torture`. */
const FOLDERS = 'runtime|plugins|scripts|inspect|site|clients|deploy|test|bench|examples|docs|\\.ci';
const PATH = new RegExp(`^(?:${FOLDERS})/[\\w./-]+$`);
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...(readdirSync(repositoryPath('docs'), { recursive: true }) as string[])
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

describe('paths of the repository', () => {
  it('that pages name as code exist', () => {
    const found = PAGES.flatMap((page) => {
      const text = readFileSync(repositoryPath(page), 'utf8').replaceAll(/^ *```[^]*?^ *```$/gm, '');
      return [...text.matchAll(/`([^`\n]+)`/g)]
        .map(([, code = '']) => code)
        .filter((code) => PATH.test(code))
        .map((path) => ({ page, path }));
    });
    expect(found.length).to.be.above(30);
    const lost = found.filter(({ path }) => !existsSync(repositoryPath(path)));
    expect(lost.map(({ page, path }) => `${page}: ${path}`)).to.deep.equal([]);
  });
});
