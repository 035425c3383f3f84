import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DrawMethod } from '../../runtime/ground/api/ranking-edit.js';
import { chiSquaredShareAbove } from '../../runtime/ground/core/distributions.js';
import type { DecodedRecord } from '../../runtime/state/ledger/record-decoder.js';
import { offPolicyEstimate, type DrawnPage } from '../../runtime/learn/off-policy/estimate.js';
import { cellsOf, memoryLedger } from '../support/memory-ledger.js';
import { startProject } from '../support/project.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';

/** The secret is the seed of the draws. It is fixed, so that nobody can choose the runs that look best. */
const SALT = 'the seed of 2026-11-22';
const METHODS: readonly DrawMethod[] = [
  { method: 'swap', probability: 0.3 },
  { method: 'plackett_luce', temperature: 2 },
  { method: 'epsilon_greedy', epsilon: 0.6 },
];
const PAGES: Readonly<Record<DrawMethod['method'], readonly [of4: number, of5: number]>> = {
  swap: [5, 8],
  plackett_luce: [24, 120],
  epsilon_greedy: [24, 120],
};
const DRAWS = 200_000;
const SHORT_DRAWS = 10_000;
/** With six tests, a right log misses this bound once in 1,700 runs. */
const LEAST_P = 0.0001;
const MOST_ERRORS = 4.5;

/** Shows that the logged probabilities are those of the pages, and that a log tells the value of another ranking. */
export const exploration: Proof = {
  name: 'exploration',
  page: 'experiments/exploration.md',
  summary:
    'the probabilities that explore logs are those of its pages; IPS finds the value of another ranking',
  run: prove,
};

async function prove({ short }: ProofOptions): Promise<ProofResult> {
  const draws = short ? SHORT_DRAWS : DRAWS;
  const missed: string[] = [];
  const rows: string[] = [];
  for (const draw of METHODS)
    for (const count of [4, 5]) {
      const name = `${draw.method} of ${count}`;
      const pages = (await serve(draw, count, draws)).map((record) => pageOf(record, count));
      const seen = countPages(pages);
      const expected = PAGES[draw.method][count - 4];
      if (seen.pages !== expected) missed.push(`${name}: ${seen.pages} of ${expected} pages`);
      if (!(Math.abs(seen.probability - 1) < 1e-9))
        missed.push(`${name}: all pages have ${seen.probability}`);
      if (!(seen.p > LEAST_P)) missed.push(`${name}: p ${seen.p}`);
      const errors = marginalErrors(pages);
      if (!(errors < MOST_ERRORS)) missed.push(`${name}: a marginal is ${errors} standard errors off`);
      const { value, interval, logged } = offPolicyEstimate(pages, 'ips', 'item_position', 1);
      const truth = valueOf(count);
      const off = (1.96 * Math.abs(value - truth)) / (interval.upper - value);
      if (!(off < MOST_ERRORS)) missed.push(`${name}: IPS is ${off} standard errors off`);
      rows.push(
        `| ${name} | ${seen.pages} | ${seen.p.toFixed(2)} | ${errors.toFixed(1)} | ${logged.toFixed(3)} | ` +
          `${value.toFixed(3)} ± ${(interval.upper - value).toFixed(3)} | ${truth.toFixed(3)} |`,
      );
    }
  const markdown = [
    `${draws.toLocaleString('en')} requests each, from the records of the service:`,
    '',
    '| method and candidates | pages | p, chi-squared | largest error of a marginal | value of the log | by IPS | true value |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows,
    '',
    'The chi-squared test compares how often each page was served with its logged probability. Errors of marginals are in',
    'standard errors. IPS estimates the value of the ranking without exploration.',
  ];
  return { markdown: markdown.join('\n'), missed };
}

/** Runs a service that explores. @returns what it logged */
async function serve(
  { method, ...option }: DrawMethod,
  count: number,
  draws: number,
): Promise<DecodedRecord[]> {
  const { ledger, records } = memoryLedger();
  const options = Object.entries(option).map(([key, value]) => `${key}: ${String(value)}`);
  const project = await startProject(
    {
      'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
      'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { worth: float } }
components:
  - { use: score, with: { value: product.worth } }
  - { use: explore, with: { method: ${method}, ${options.join(', ')}, top: ${count} } }
page: { size: ${count} }
limits: { time: 60s }
log: { candidates: all }
`,
    },
    { ledger, experiments: true, env: { MILLRACE_EXPLORE_SALT: SALT } },
  );
  try {
    const [pipeline] = project.app.pipelines;
    const candidates = Array.from({ length: count }, (_, at) => ({ product_id: `p${at}`, worth: -0.5 * at }));
    for (let n = 0; n < draws; n++) {
      await pipeline?.run({ candidates }, { requestId: `${method}-${count}-${n}` });
      if (n % 100 === 0) await nextTurn(); // the ledger writes in other turns
    }
    return await records();
  } finally {
    await project.close();
  }
}

interface LoggedPage extends DrawnPage {
  /** The candidates by place. */
  readonly order: string;
  readonly probability: number;
}

/** The candidates are sent in the order of their scores, so their rows are their places without exploration. */
function pageOf(record: DecodedRecord, count: number): LoggedPage {
  const [place, propensity, marginal] = ['place', 'propensity', 'marginal'].map((name) =>
    cellsOf(record, name),
  );
  const places = Array.from({ length: count }, (_, row) => ({
    row,
    place: Number(place?.[row]),
    target: row + 1 === place?.[row] ? 1 : 0,
    propensity: Number(propensity?.[row]),
    marginal: Number(marginal?.[row]),
    reward: rewardOf(row, Number(place?.[row])),
  })).sort((a, b) => a.place - b.place);
  return {
    unit: String(record.field('request_id')?.at(0)),
    above: 1,
    places,
    order: places.map(({ row }) => row).join(' '),
    probability: places.reduce((product, one) => product * one.propensity, 1),
  };
}

/** What users do at a place: the second candidate is the best, and they look at the first places most. */
function rewardOf(row: number, place: number): number {
  return (row === 1 ? 1 : 0.3 / (row + 1)) / place;
}

function valueOf(count: number): number {
  return Array.from({ length: count }, (_, row) => rewardOf(row, row + 1)).reduce((sum, one) => sum + one, 0);
}

function countPages(pages: readonly LoggedPage[]): {
  readonly pages: number;
  readonly probability: number;
  readonly p: number;
} {
  const seen = new Map<string, { count: number; readonly probability: number }>();
  for (const { order, probability } of pages) {
    const known = seen.get(order) ?? { count: 0, probability };
    known.count += 1;
    seen.set(order, known);
  }
  let [chi, sum] = [0, 0];
  for (const { count, probability } of seen.values()) {
    const expected = probability * pages.length;
    chi += (count - expected) ** 2 / expected;
    sum += probability;
  }
  return { pages: seen.size, probability: sum, p: chiSquaredShareAbove(chi, seen.size - 1) };
}

/** The largest difference of a logged marginal to how often the candidate was at the place, in standard errors. */
function marginalErrors(pages: readonly LoggedPage[]): number {
  const seen = new Map<string, { count: number; readonly marginal: number }>();
  for (const { order, places } of pages)
    for (const [at, row] of order.split(' ').entries()) {
      const key = `${row}@${at}`;
      const known = seen.get(key) ?? { count: 0, marginal: places[at]?.marginal ?? NaN };
      known.count += 1;
      seen.set(key, known);
    }
  const errors = Array.from(seen.values(), ({ count, marginal }) => {
    const expected = marginal * pages.length;
    return Math.abs(count - expected) / Math.sqrt(expected * (1 - marginal));
  });
  return Math.max(...errors);
}
