import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Assigner, type Assignment } from '../../../../runtime/request/experiments/assign.js';
import { seedOf, unitPoint } from '../../../../runtime/request/experiments/unit-point.js';
import { repositoryPath } from '../../../support/repository.js';

const EXPERIMENT: Assignment = {
  name: 'popularity',
  layer: 'search_page',
  share: 0.4,
  offset: 0.1,
  arms: [
    { name: 'control', weight: 50 },
    { name: 'popular', weight: 30 },
    { name: 'fresh', weight: 20 },
  ],
};
const ASSIGNER = new Assigner(EXPERIMENT);
const MANY = Array.from({ length: 100_000 }, (_, i) => `u${i}`);
const UNITS = MANY.slice(0, 20_000);

/** Pearson's statistic. Every expected count is at least 20. */
function chiSquare(seen: readonly number[], expected: readonly number[]): number {
  expect(Math.min(...expected)).to.be.at.least(20);
  return seen.reduce((sum, count, i) => sum + (count - (expected[i] ?? 0)) ** 2 / (expected[i] ?? 0), 0);
}

describe('the assignment of units to arms', () => {
  it('gives the arms that clients/python gives', () => {
    const file = repositoryPath('clients/python/tests/arms.tsv');
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    expect(lines).to.have.length(1000);
    for (const line of lines) {
      const [unit = '', arm = ''] = line.split('\t');
      const index = ASSIGNER.armOf(unit);
      expect(index === undefined ? '-' : EXPERIMENT.arms[index]?.name, unit).to.equal(arm);
    }
  });

  it('gives the arms that clients/python gives to many units, by the hash of the arms', () => {
    const file = repositoryPath('clients/python/tests/arms.sha256');
    const hash = createHash('sha256');
    for (const unit of MANY) {
      const index = ASSIGNER.armOf(unit);
      hash.update(`${index === undefined ? '-' : (EXPERIMENT.arms[index]?.name ?? '')}\n`);
    }
    expect(hash.digest('hex')).to.equal(readFileSync(file, 'utf8').trim());
  });

  it('is uniform', () => {
    // 100 bins; 99 degrees of freedom; the statistic is above 148.23 with probability 0.001.
    const bins = new Array<number>(100).fill(0);
    for (const unit of MANY) {
      const bin = Math.floor(unitPoint(seedOf('arm', 'popularity'), unit) * 100);
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
    expect(chiSquare(bins, new Array<number>(100).fill(MANY.length / 100))).to.be.below(148.23);
  });

  // Ids of four bytes are one block of the hash, where seeds could show through.
  const short = Array.from({ length: MANY.length }, (_, i) => (i + 36 ** 3).toString(36));
  for (const [kind, units] of Object.entries({ long: MANY, short }))
    it(`is independent between layers, between experiments, and of the place in the layer: ${kind} ids`, () => {
      const pairs = [
        ['layer', 'one', 'layer', 'other'],
        ['arm', 'one', 'arm', 'other'],
        ['layer', 'one', 'arm', 'one'],
        ['layer', 'search_page', 'arm', 'popularity'],
      ] as const;
      for (const [purpose, name, otherPurpose, other] of pairs) {
        const [seed, otherSeed] = [seedOf(purpose, name), seedOf(otherPurpose, other)];
        const cells = new Array<number>(100).fill(0);
        for (const unit of units) {
          const cell =
            Math.floor(unitPoint(seed, unit) * 10) * 10 + Math.floor(unitPoint(otherSeed, unit) * 10);
          cells[cell] = (cells[cell] ?? 0) + 1;
        }
        // The marginals are known, so there are 99 degrees of freedom.
        const statistic = chiSquare(cells, new Array<number>(100).fill(MANY.length / 100));
        expect(statistic, `${name} and ${other}`).to.be.below(148.23);
      }
    });

  it('only adds units when the share grows, and changes no arm', () => {
    const grown = new Assigner({ ...EXPERIMENT, share: 0.9 });
    for (const unit of UNITS) {
      const before = ASSIGNER.armOf(unit);
      const after = grown.armOf(unit);
      if (before !== undefined) expect(after, unit).to.equal(before);
    }
  });

  it('gives each arm its part of the weights', () => {
    const seen = [0, 0, 0];
    let taking = 0;
    for (const unit of UNITS) {
      const arm = ASSIGNER.armOf(unit);
      if (arm === undefined) continue;
      taking++;
      seen[arm] = (seen[arm] ?? 0) + 1;
    }
    const expected = EXPERIMENT.arms.map(({ weight }) => (taking * weight) / 100);
    expect(chiSquare(seen, expected)).to.be.below(13.82); // 2 degrees of freedom, probability 0.001
  });

  it('keeps experiments of one layer apart', () => {
    const later = new Assigner({ ...EXPERIMENT, name: 'text', offset: 0.5, share: 0.5 });
    for (const unit of UNITS) expect([ASSIGNER.armOf(unit), later.armOf(unit)], unit).to.include(undefined);
  });
});
