/** Makes every mistake of the table, and compares what is printed with docs/reference/mistakes.md. UPDATE_GOLDEN=1 rewrites it. */
import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import { repositoryPath } from '../support/repository.js';
import { makeMistake } from './make-mistake.js';
import { pageOf, sectionOf, sectionsIn } from './page.js';
import { SURFACES } from './table.js';

const PAGE = repositoryPath('docs/reference/mistakes.md');

describe('the message of every mistake', () => {
  const page = readFileSync(PAGE, 'utf8');
  const sections = sectionsIn(page);
  const found = new Map<string, string>();

  it('is shown for at least 100 mistakes on every surface', () => {
    const mistakes = SURFACES.flatMap((surface) => surface.mistakes);
    expect(mistakes.length).to.be.at.least(100);
    if (!process.env.UPDATE_GOLDEN) expect(sections.size).to.equal(mistakes.length);
  });

  for (const { title, mistakes } of SURFACES)
    describe(title, () => {
      for (const mistake of mistakes)
        it(mistake.what, async () => {
          const seen = await makeMistake(mistake);
          const section = sectionOf(mistake, seen);
          found.set(`${title}: ${mistake.what}`, section);
          expect(seen.printed).not.to.equal('');
          expect(seen.printed).not.to.match(/^\s+at .*:\d+:\d+\)?$|\[object|undefined/m);
          expect(seen.printed, 'a path of this machine').not.to.contain('/tmp/');
          if (!process.env.UPDATE_GOLDEN) expect(section).to.equal(sections.get(`${title}: ${mistake.what}`));
        });
    });

  after(() => {
    if (process.env.UPDATE_GOLDEN) writeFileSync(PAGE, pageOf(SURFACES, found));
  });
});
