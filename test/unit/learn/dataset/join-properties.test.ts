import { expect } from 'chai';
import fc from 'fast-check';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildDataSet } from '../../../../runtime/learn/dataset/build-data-set.js';
import type { AttributionCounts } from '../../../../runtime/learn/dataset/manifest.js';
import { MILLION, type DataSetOptions } from '../../../../runtime/learn/dataset/options.js';
import {
  MadeLedger,
  START,
  type MadeFeedback,
  type MadeHistory,
  type MadeRanking,
} from '../../../support/made-ledger.js';
import { draws } from '../../../support/draws.js';

const WINDOW = 100;
const CLICK_WINDOW = 40;
const END = START + 1000;
const GRADES: Readonly<Record<string, number>> = { click: 1, order: 3 };

const OPTIONS: DataSetOptions = {
  pipeline: 'search',
  label: new Map(Object.entries(GRADES)),
  attribute: [{ event: 'order', window: CLICK_WINDOW }],
  window: WINDOW,
  examined: { rule: 'page' },
  split: { by: 'time', train: MILLION },
  gap: 0,
  since: -Infinity,
  until: Infinity,
  add: [{ view: 'stats', feature: 'ctr' }],
};

interface World {
  readonly rankings: readonly MadeRanking[];
  readonly feedback: readonly MadeFeedback[];
  readonly history: readonly MadeHistory[];
}

const time = fc.integer({ min: 0, max: 300 }).map((at) => START + at);
const product = fc.constantFrom('a', 'b', 'c', 'd');
const worlds: fc.Arbitrary<World> = fc.record({
  rankings: fc
    .uniqueArray(
      fc.record({
        request: fc.constantFrom('r1', 'r2', 'r3', 'r4', 'r5'),
        time,
        candidates: fc
          .uniqueArray(product, { minLength: 1, maxLength: 4 })
          .map((ids) => ids.map((id) => ({ id, values: { price: id.charCodeAt(0) } }))),
      }),
      { selector: ({ request }) => request, minLength: 1, maxLength: 5 },
    )
    .map((list): readonly MadeRanking[] => list),
  feedback: fc.array(
    fc.record({
      event: fc.constantFrom('click', 'order', 'view'),
      subject: product,
      time,
      request: fc.option(fc.constantFrom('r1', 'r2', 'r3', 'lost'), { nil: undefined }),
      user: fc.option(fc.constantFrom('ann', 'bob'), { nil: undefined }),
      id: fc.option(fc.constantFrom('e1', 'e2'), { nil: undefined, freq: 3 }),
    }),
    { maxLength: 30 },
  ),
  history: fc.array(
    fc.record({
      keys: product.map((id) => [id]),
      time,
      stored: time,
      values: fc.integer().map((ctr) => ({ ctr })),
    }),
    { maxLength: 15 },
  ),
});

/** A ledger that lasts long enough for all rankings. */
function ledgerOf({ rankings, feedback, history }: World): MadeLedger {
  const ledger = new MadeLedger().feedback({ event: 'end', subject: 'a', time: END });
  ledger.history('stats', ['product'], 50, { ctr: 'float64' }, { keys: ['none'], time: START, values: {} });
  for (const one of rankings) ledger.ranking(one, { candidate: { price: 'float64' } });
  for (const one of feedback) ledger.feedback(one);
  for (const one of history) ledger.history('stats', ['product'], 50, { ctr: 'float64' }, one);
  return ledger;
}

/** The rows and counts by loops over everything, as the page of the docs states the rules. */
function reference({ rankings, feedback, history }: World): {
  readonly rows: readonly string[];
  readonly counts: Partial<AttributionCounts>;
} {
  const counts = { by_request: 0, by_last_click: 0, orphans: 0, duplicates: 0, late: 0 };
  const grades = new Map<string, number>();
  const key = (request: string, id: string): string => `${request}/${id}`;
  const seen = new Set<string>();
  const isAgain = (...identity: unknown[]): boolean => {
    const text = JSON.stringify(identity);
    const known = seen.has(text);
    seen.add(text);
    if (known) counts.duplicates += 1;
    return known;
  };
  // Events without a request keep the one that arrived first.
  const isLoose = ({ event, request, user }: MadeFeedback): boolean =>
    event === 'order' && request === undefined && user !== undefined;
  const inOrder = feedback
    .filter((one) => !isLoose(one) || !isAgain('loose', one.user, one.event, one.subject, one.id ?? one.time))
    .map((one, at) => ({ ...one, at }))
    .sort((a, b) => a.time - b.time || a.at - b.at);
  const clicks = inOrder.filter(({ event, request }) => event === 'click' && request !== undefined);
  for (const { event, subject, time: at, request: named, user, id: told } of inOrder) {
    const grade = GRADES[event];
    if (grade === undefined) continue;
    const last =
      event === 'order' && named === undefined && user !== undefined
        ? clicks
            .filter((click) => click.user === user && click.subject === subject && click.time <= at)
            .sort((a, b) => a.time - b.time || ((a.request ?? '') < (b.request ?? '') ? -1 : 1))
            .at(-1)
        : undefined;
    const request =
      named ?? (last !== undefined && at - last.time <= CLICK_WINDOW ? last.request : undefined);
    const ranking = rankings.find((one) => one.request === request);
    const what = told ?? (named === undefined ? at : '');
    if (ranking !== undefined && isAgain(ranking.request, event, subject, what)) continue;
    if (ranking?.candidates.some(({ id }) => id === subject) !== true) counts.orphans += 1;
    else if (at > ranking.time + WINDOW) counts.late += 1;
    else {
      counts[named === undefined ? 'by_last_click' : 'by_request'] += 1;
      const row = key(ranking.request, subject);
      grades.set(row, Math.max(grade, grades.get(row) ?? 0));
    }
  }
  const ctr = (id: string, at: number): string => {
    const known = history
      .map((row, order) => ({ ...row, order }))
      .filter((row) => row.keys[0] === id && row.time <= at && (row.stored ?? row.time) <= at)
      .sort((a, b) => a.time - b.time || (a.stored ?? 0) - (b.stored ?? 0) || a.order - b.order)
      .at(-1);
    return known === undefined || at - known.time > 50 ? '' : String(known.values.ctr);
  };
  const rows = rankings.flatMap(({ request, time: at, candidates }) =>
    candidates.map(({ id, values }, place) =>
      [
        request,
        new Date(at).toISOString(),
        id,
        place + 1,
        grades.get(key(request, id)) ?? 0,
        1,
        true,
        values?.price,
        ctr(id, at),
      ].join(','),
    ),
  );
  return { rows: rows.sort(), counts };
}

describe('a data set', () => {
  const root = mkdtempSync(join(tmpdir(), 'millrace-dataset-'));
  let made = 0;

  after(() => rmSync(root, { recursive: true }));

  async function build(world: World): Promise<{ rows: readonly string[]; counts: AttributionCounts }> {
    made += 1;
    const source = ledgerOf(world).write(join(root, `ledger-${made}`));
    const out = join(root, `set-${made}`);
    const { manifest } = await buildDataSet(source, out, 'csv', OPTIONS);
    const [, ...rows] = readFileSync(join(out, 'train.csv'), 'utf8').trimEnd().split('\n');
    return { rows: rows.sort(), counts: manifest.attribution };
  }

  it('has the rows and the counts of a join by brute force', async () => {
    await fc.assert(
      fc.asyncProperty(worlds, async (world) => {
        const { rows, counts } = await build(world);
        const expected = reference(world);
        expect(rows).to.deep.equal(expected.rows);
        expect(counts).to.include(expected.counts);
      }),
      { numRuns: draws(20) },
    );
  });

  it('does not change when anything changes that happened after a ranking and beyond its window', async () => {
    const later = fc.record({
      time: fc.integer({ min: 301 + WINDOW, max: 900 }),
      user: fc.constantFrom('ann', 'bob'),
    });
    await fc.assert(
      fc.asyncProperty(worlds, fc.array(later, { maxLength: 5 }), fc.integer(), async (world, more, ctr) => {
        const { rows } = await build(world);
        const latest = Math.max(...world.rankings.map(({ time: at }) => at));
        const changed: World = {
          rankings: [
            ...world.rankings,
            ...more.map(({ time: at }, number) => ({
              request: `later-${number}`,
              time: START + at,
              candidates: [{ id: 'a', values: { price: ctr } }],
            })),
          ],
          feedback: [
            ...world.feedback,
            ...more.map(({ time: at, user }) => ({ event: 'order', subject: 'a', user, time: START + at })),
            ...more.map(({ time: at }) => ({
              event: 'click',
              subject: 'a',
              request: 'r1',
              time: START + at,
            })),
          ],
          history: [
            // What was not known at the last ranking gets another value.
            ...world.history.map((row) =>
              row.time > latest || (row.stored ?? row.time) > latest ? { ...row, values: { ctr } } : row,
            ),
            ...more.map(({ time: at }) => ({
              keys: ['a'],
              time: START,
              stored: START + at,
              values: { ctr },
            })),
            ...more.map(({ time: at }) => ({
              keys: ['b'],
              time: START + at,
              stored: START,
              values: { ctr },
            })),
          ],
        };
        const after = await build(changed);
        expect(after.rows.filter((row) => !row.startsWith('later-'))).to.deep.equal(rows);
      }),
      { numRuns: draws(12) },
    );
  });
});
