import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { PAGES } from '../support/pages.js';
import { repositoryPath } from '../support/repository.js';

/** The line under the heads of a table. */
const RULE = /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/;

describe('tables of the pages', () => {
  // A reader who hears the page hears the head of each cell's column. The check of the website finds this too, late.
  it('name every column', () => {
    let tables = 0;
    const nameless = PAGES.flatMap((page) => {
      const lines = readFileSync(repositoryPath(page), 'utf8').split('\n');
      return lines.flatMap((line, at) => {
        if (!RULE.test(line)) return [];
        tables++;
        const heads = (lines[at - 1] ?? '')
          .trim()
          .replaceAll(/^\||\|$/g, '')
          .split('|');
        return heads.every((head) => head.trim() !== '') ? [] : [`${page}:${String(at)}`];
      });
    });
    expect(tables).to.be.above(100);
    expect(nameless).to.deep.equal([]);
  });
});
