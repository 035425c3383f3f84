import { expect } from 'chai';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { repositoryPath } from '../support/repository.js';
import type { FeatureRow, Shop } from './feature-row.js';
import { expectedOf, FeatureProject } from './millrace-values.js';
import { COUNTER_ROWS } from './live/counter-rows.js';
import { contexts, plainShops, shops } from './random-shop.js';
import { CANDIDATES } from './rows/candidates.js';
import { CONTEXT } from './rows/context.js';
import { INTERACTIONS } from './rows/interactions.js';
import { PLAIN } from './rows/plain.js';
import { TEXTS } from './rows/texts.js';
import { VECTORS } from './rows/vectors.js';

/** All rows of docs/features.md that a test computes. */
const ROWS: readonly FeatureRow[] = [
  ...PLAIN,
  ...VECTORS,
  ...CANDIDATES,
  ...CONTEXT,
  ...INTERACTIONS,
  ...TEXTS,
];

/** Sums are added in another order, so the last digits of a number can differ. */
const TOLERANCE = 1e-9;

/** By row: the different values that were compared. */
type Seen = Map<FeatureRow, Set<number>>;

describe("the values of Metarank's features", () => {
  let project: FeatureProject;

  before(async () => {
    project = await FeatureProject.start(ROWS);
  });

  after(() => project.close());

  /** Compares the values of the rows, and notes in `seen` those that both have. */
  async function compare(
    rows: readonly FeatureRow[],
    shop: Shop,
    seen: Seen,
    expectedIn = expectedOf,
  ): Promise<void> {
    const user = await project.load(shop);
    for (const row of rows) {
      const values = await project.values(row, shop, user);
      for (const [id, expected] of expectedIn(row, shop)) {
        const found = values.get(id);
        const what = `${row.name}: ${row.value} of ${id}`;
        if (expected === undefined || found === undefined) expect(found, what).to.equal(expected);
        else {
          expect(found, what).to.be.closeTo(expected, TOLERANCE * Math.max(1, Math.abs(expected)));
          seen.set(row, (seen.get(row) ?? new Set()).add(expected));
        }
      }
    }
  }

  /** Rows for which the events gave too few values to prove anything. */
  const unproved = (rows: readonly FeatureRow[], seen: Seen, least: number): string[] =>
    rows.filter((row) => (seen.get(row)?.size ?? 0) < least).map(({ value }) => value);

  it('are the same on the same random events', async () => {
    const seen: Seen = new Map();
    await fc.assert(
      fc.asyncProperty(shops, (shop) => compare(ROWS, shop, seen)),
      { numRuns: 25 },
    );
    expect(unproved(ROWS, seen, 1)).to.deep.equal([]);
  });

  it('of texts are the same without a difference where each word is plain, and stands once', async () => {
    const seen: Seen = new Map();
    const theirs: typeof expectedOf = ({ name, value, metarank }, shop) =>
      expectedOf({ name, value, metarank }, shop);
    await fc.assert(
      fc.asyncProperty(plainShops, (shop) => compare(TEXTS, shop, seen, theirs)),
      { numRuns: 25 },
    );
    expect(unproved(TEXTS, seen, 2)).to.deep.equal([]);
  });

  it('are the same for every user agent, referrer and local time', async () => {
    const seen: Seen = new Map();
    for (const shop of contexts()) await compare(CONTEXT, shop, seen);
    expect(unproved(CONTEXT, seen, 2)).to.deep.equal([]);
  });

  it('are those that docs/features.md says are tested', () => {
    const tested = [...new Set([...ROWS, ...COUNTER_ROWS].map(({ name }) => name))];
    expect(documentedRows().sort()).to.deep.equal(tested.sort());
  });
});

/** The first column of the rows whose last column says `tested`. */
function documentedRows(): string[] {
  const page = readFileSync(repositoryPath('docs/features.md'), 'utf8');
  return page.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    return line.startsWith('|') && cells.at(-2) === 'tested' ? [(cells[1] ?? '').replaceAll('`', '')] : [];
  });
}
