import { readdirSync, readFileSync, statSync } from 'node:fs';
import { expect } from 'chai';
import { KINDS, SCREENS } from '../pictures/states.js';
import { repositoryPath } from '../support/repository.js';

const FOLDER = repositoryPath('docs', 'images', 'workbench');

describe('docs/workbench-pictures.md', () => {
  it('shows the pictures of the table of states, and no others', () => {
    const wanted = Object.entries(SCREENS).flatMap(([screen, { states, more = {} }]) =>
      Object.entries({ ...states, ...more }).flatMap(([name, state]) =>
        typeof state === 'string' || state.says === undefined ? [] : [`${screen}-${name}.webp`],
      ),
    );
    const page = readFileSync(repositoryPath('docs', 'workbench-pictures.md'), 'utf8');
    const shown = [...page.matchAll(/\(images\/workbench\/(.+)\)/g)].map(([, name]) => name);
    expect(shown).to.deep.equal(wanted);
    expect(readdirSync(FOLDER).sort()).to.deep.equal(wanted.toSorted());
  });

  it('has every kind of state of each screen, or says why there is none', () => {
    for (const [screen, { states }] of Object.entries(SCREENS))
      expect(Object.keys(states), screen).to.deep.equal([...KINDS]);
  });

  it('is small', () => {
    const sizes = readdirSync(FOLDER).map((name) => statSync(`${FOLDER}/${name}`).size);
    expect(sizes.length).to.be.at.most(30);
    expect(Math.max(...sizes)).to.be.at.most(60_000);
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.at.most(1_500_000);
  });
});
