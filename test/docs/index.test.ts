import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { DOCS } from '../support/pages.js';
import { repositoryPath } from '../support/repository.js';

const read = (page: string): string => readFileSync(repositoryPath('docs', page), 'utf8');
/** Pages that only lead to the new place of a page. */
const MOVED = DOCS.filter((page) => read(page).startsWith('---\n'));

describe('docs/index.md', () => {
  it('lists every page of docs once, by its title', () => {
    const listed = [...read('index.md').matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)];
    const pages = DOCS.filter(
      (page) => page !== 'index.md' && !/^decisions\/(?!README)/.test(page) && !MOVED.includes(page),
    );
    expect(listed.map(([, , path]) => path).sort()).to.deep.equal(pages);
    for (const [, title = '', path = ''] of listed)
      expect(/^# (.+)$/m.exec(read(path))?.[1], path).to.equal(title);
  });

  it('leaves out the pages that moved; they lead to the new place on GitHub and on the site', () => {
    expect(MOVED).to.not.be.empty;
    for (const page of MOVED) {
      const [, front = '', text = ''] = /^---\n([^]*?)^---\n([^]*)$/m.exec(read(page)) ?? [];
      const [, place = ''] = /^\n# .+\n\nThis page has moved to \[.+\]\((.+)\)\.\n$/.exec(text) ?? [];
      expect(parse(front), page).to.deep.equal({
        search: false,
        head: [
          ['meta', { 'http-equiv': 'refresh', content: `0; url=${place.replace(/(README)?\.md/, '')}` }],
        ],
      });
    }
  });

  it('leads to docs/decisions/README.md, which lists every decision', () => {
    const listed = [...read('decisions/README.md').matchAll(/^\| \[[^\]]+\]\(([^)]+)\)/gm)];
    expect(listed.map(([, path]) => `decisions/${path}`).sort()).to.deep.equal(
      DOCS.filter((page) => /^decisions\/(?!README)/.test(page)),
    );
  });
});
