import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { DOCS } from '../support/pages.js';
import { repositoryPath } from '../support/repository.js';

const read = (page: string): string => readFileSync(repositoryPath('docs', page), 'utf8');

describe('docs/index.md', () => {
  it('lists every page of docs once, by its title', () => {
    const listed = [...read('index.md').matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)];
    const pages = DOCS.filter((page) => page !== 'index.md' && !/^decisions\/(?!README)/.test(page));
    expect(listed.map(([, , path]) => path).sort()).to.deep.equal(pages);
    for (const [, title = '', path = ''] of listed)
      expect(/^# (.+)$/m.exec(read(path))?.[1], path).to.equal(title);
  });

  it('leads to docs/decisions/README.md, which lists every decision', () => {
    const listed = [...read('decisions/README.md').matchAll(/^\| \[[^\]]+\]\(([^)]+)\)/gm)];
    expect(listed.map(([, path]) => `decisions/${path}`).sort()).to.deep.equal(
      DOCS.filter((page) => /^decisions\/(?!README)/.test(page)),
    );
  });
});
