import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect } from 'chai';
import { PAGES } from '../support/pages.js';
import { repositoryPath } from '../support/repository.js';

/** Texts of code that are paths of the repository, or of a wing: `docs/http.md`, `test/torture`, `serve/http/app.ts`. */
const FOLDERS = 'runtime|plugins|scripts|clients|deploy|test|bench|docs|\\.ci';
const PATH = new RegExp(`^(?:${FOLDERS})/[\\w./-]+$`);
const IN_WING = /^(?:ground|project|language|state|request|learn|serve|cli)\/[\w./-]+$/;

/** A page without its blocks of code. */
function proseOf(page: string): string {
  return readFileSync(repositoryPath(page), 'utf8').replaceAll(/^ *(`{3,})[^]*?^ *\1$/gm, '');
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of proseOf(page).matchAll(/^#+ (.+)$/gm)) {
    const anchor = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    let unique = anchor;
    for (let at = 1; anchors.has(unique); at++) unique = `${anchor}-${at}`;
    anchors.add(unique);
  }
  return anchors;
}

/** The links of a page to other pages, files and headings of the repository. */
function linksOf(
  page: string,
): readonly { readonly link: string; readonly path: string; readonly hash: string }[] {
  return [...proseOf(page).matchAll(/\]\(([^)\s]+)\)|(?:href|src)="([^"]+)"/g)]
    .map(([, inText, inTag]) => inText ?? inTag ?? '')
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [target = '', hash = ''] = link.split('#');
      return { link, path: target === '' ? page : posix.join(posix.dirname(page), target), hash };
    });
}

describe('paths of the repository', () => {
  it('that pages name as code exist', () => {
    const found = PAGES.flatMap((page) =>
      [...proseOf(page).matchAll(/`([^`\n]+)`/g)]
        .map(([, code = '']) => ({ page, code, path: IN_WING.test(code) ? `runtime/${code}` : code }))
        .filter(({ path }) => PATH.test(path)),
    );
    expect(found.length).to.be.above(50);
    const lost = found.filter(({ path }) => !existsSync(repositoryPath(path)));
    expect(lost.map(({ page, code }) => `${page}: ${code}`)).to.deep.equal([]);
  });

  for (const page of PAGES)
    it(`that ${page} links to exist, with their headings`, () => {
      const lost = linksOf(page).filter(
        ({ path, hash }) =>
          !existsSync(repositoryPath(path)) ||
          (hash !== '' && path.endsWith('.md') && !anchorsOf(path).has(decodeURIComponent(hash))),
      );
      expect(lost.map(({ link }) => link)).to.deep.equal([]);
    });
});
