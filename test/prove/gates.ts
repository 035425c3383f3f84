import { atOnce } from '../../runtime/ground/core/pieces.js';
import { checkGate, FEWEST_QUERIES, parseGates } from '../../runtime/learn/judge/gates.js';
import { parseMetric, type Metric } from '../../runtime/learn/evaluation/metric-names.js';
import {
  evaluate,
  MeasuredQueries,
  type EvaluationReport,
  type QueryRankings,
} from '../../runtime/learn/evaluation/report.js';
import {
  chorus,
  drawRankings,
  generated,
  METRIC_OPTIONS,
  type Change,
  type Population,
} from './gates/population.js';
import { trainOnShuffled } from './gates/shuffled-labels.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';

const NAME = 'ndcg@10';
const GAIN = 0.02;
const LOSS = 0.002;
/** The gate for a change that must be better, and the gate for one that must not be worse. */
const BETTER = `lower(delta.${NAME}) > 0`;
const NOT_WORSE = `lower(delta.${NAME}) > -${LOSS}`;
/** The signal at which a ranking has an NDCG of about 0.73. */
const SIGNAL = 0.3;
/** A change with noise of 0.3 moves a query by about 0.1. A smaller one needs fewer queries, so it is faster to simulate. */
const OWN_NOISE = { short: 0.2, full: 0.3 };
const FEW_QUERIES = { short: [FEWEST_QUERIES], full: [FEWEST_QUERIES, 20, 40] };
/** One-sided, for an interval of 95 % and a power of 90 %. */
const Z_INTERVAL = 1.96;
const Z_POWER = 1.2816;
/** Queries on which the true gain of a change is measured. */
const CALIBRATION = { short: 6000, full: 30_000 };
const TRIALS = { short: 100, full: 200 };
/** Queries on which a model of shuffled labels is judged. */
const TESTED_ON = 60;
/** Trials with few queries are fast. */
const TRIALS_OF_FEW = { short: 200, full: 400 };

/** Simulates changes with a known effect, and counts how many the gate accepts. */
export const gates: Proof = {
  name: 'gates',
  summary: 'the gate accepts 90 of 100 gains of 0.02 NDCG, 5 of 100 neutral changes, no shuffled labels',
  page: 'learn/evaluation.md',
  run: prove,
};

async function prove({ short }: ProofOptions): Promise<ProofResult> {
  const real = chorus();
  if (real === undefined) console.log('the Chorus judgments are not there: generated queries alone');
  const populations = short ? [real ?? generated(1)] : [...(real === undefined ? [] : [real]), generated(1)];
  const rows: string[] = [];
  const missed: string[] = [];
  for (const population of populations) {
    const lines = await measure(population, short ? 'short' : 'full', missed);
    rows.push(...lines);
  }
  return {
    markdown: [
      'The table shows how many of 100 changes are accepted. The grades are those of real queries or generated; the',
      `rankings are simulated. A change moves the ${NAME} of a single query by the standard deviation in the table.`,
      '',
      `| queries | deviation | change | \`${BETTER}\` | \`${NOT_WORSE}\` |`,
      '| --- | --: | --- | --: | --: |',
      ...rows,
    ].join('\n'),
    missed,
  };
}

type Form = 'short' | 'full';

async function measure(population: Population, form: Form, missed: string[]): Promise<string[]> {
  const neutral: Change = { before: SIGNAL, after: SIGNAL, own: OWN_NOISE[form] };
  const gain = withGain(population, neutral, GAIN, CALIBRATION[form]);
  const deviation = deviationOf(population, neutral, CALIBRATION[form]);
  const rows: string[] = [];
  const add = (count: number, what: string, { better, notWorse, trials }: Accepted): void => {
    const shown = [better, notWorse].map((accepted) => ((100 * accepted) / trials).toFixed(1));
    const row = `| ${count} ${population.name} | ${deviation.toFixed(3)} | ${what} | ${shown.join(' | ')} |`;
    console.log(row);
    rows.push(row);
  };
  const expect = (isMet: boolean, figure: string): void => {
    if (!isMet) missed.push(`${population.name}: ${figure}`);
  };

  const found = queriesFor(population, gain, deviation, form);
  add(found.count, `gain of ${GAIN}`, found.accepted);
  const { accepted } = found;
  expect(shareOf(accepted, 'better') >= 0.9, `gains accepted: ${percent(accepted, 'better')}, at least 90`);
  expect(
    shareOf(accepted, 'notWorse') >= 0.9,
    `gains not refused: ${percent(accepted, 'notWorse')}, at least 90`,
  );

  for (const count of [...FEW_QUERIES[form], found.count]) {
    const trials = count === found.count ? TRIALS[form] : TRIALS_OF_FEW[form];
    const one = judge(trials, (seed) => drawRankings(population, neutral, count, seed));
    add(count, 'neutral', one);
    expect(shareOf(one, 'better') <= 0.05, `neutral, ${count} queries: ${percent(one, 'better')}, at most 5`);
  }

  if (form === 'full') {
    const loss = withGain(population, neutral, -LOSS, 2 * CALIBRATION.full);
    const lost = judge(TRIALS.full, (seed) => drawRankings(population, loss, found.count, seed));
    add(found.count, `loss of ${LOSS}`, lost);
    expect(shareOf(lost, 'notWorse') <= 0.05, `losses accepted: ${percent(lost, 'notWorse')}, at most 5`);
  }

  const trained: QueryRankings[][] = [];
  for (let seed = 0; seed < 100; seed++) trained.push(await trainOnShuffled(population, TESTED_ON, seed));
  const learned = judge(trained.length, (seed) => trained[seed] ?? []);
  add(TESTED_ON, 'trained on shuffled labels', learned);
  expect(learned.better + learned.notWorse === 0, `models of shuffled labels accepted: ${learned.notWorse}`);
  return rows;
}

/** The smallest number of queries, in steps of about a twentieth, with which 90 of 100 gains are accepted. */
function queriesFor(
  population: Population,
  gain: Change,
  deviation: number,
  form: Form,
): { readonly count: number; readonly accepted: Accepted } {
  const expected = ((Z_INTERVAL + Z_POWER) * (deviation / GAIN)) ** 2;
  for (let factor = form === 'short' ? 1 : 0.95; ; factor += 0.05) {
    const count = 5 * Math.ceil((factor * expected) / 5);
    const accepted = judge(TRIALS[form], (seed) => drawRankings(population, gain, count, seed));
    console.log(`${count} queries: ${percent(accepted, 'better')} gains of ${GAIN} accepted`);
    if (shareOf(accepted, 'better') >= 0.9 || factor > 2) return { count, accepted };
  }
}

interface Accepted {
  readonly better: number;
  readonly notWorse: number;
  readonly trials: number;
}

function shareOf(accepted: Accepted, gate: 'better' | 'notWorse'): number {
  return accepted[gate] / accepted.trials;
}

function percent(accepted: Accepted, gate: 'better' | 'notWorse'): string {
  return `${(100 * shareOf(accepted, gate)).toFixed(1)} of 100`;
}

const GATES = parseGates([BETTER, NOT_WORSE], true);

/** Asks both gates, as `millrace evaluate --require` does. */
function judge(trials: number, rankingsOf: (trial: number) => readonly QueryRankings[]): Accepted {
  let [better, notWorse] = [0, 0];
  for (let trial = 0; trial < trials; trial++) {
    const report = reportOf(rankingsOf(trial));
    const counts = { queries: 0, unjudged: 0, removed: 0, missing: 0, degraded: 0 };
    const [first, second] = GATES.map((gate) => checkGate(gate, report, counts).passed);
    if (first === true) better += 1;
    if (second === true) notWorse += 1;
  }
  return { better, notWorse, trials };
}

function reportOf(rankings: readonly QueryRankings[]): EvaluationReport {
  const metrics = [metric()];
  const options = { ...METRIC_OPTIONS, empty: 'skip' } as const;
  const measured = new MeasuredQueries({ count: rankings.length, queryAt: String }, metrics, options, true);
  for (const [at, one] of rankings.entries()) measured.measure(at, one);
  return atOnce(evaluate(measured, 0));
}

function metric(): Metric {
  const parsed = parseMetric(NAME);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed;
}

/** The difference of each query's metric. */
function differences(population: Population, change: Change, queries: number): number[] {
  const ndcg = metric();
  return drawRankings(population, change, queries, 1_000_000).map(({ rankings, baseline }) => {
    const [after] = rankings;
    const [before] = baseline ?? [];
    if (after === undefined || before === undefined) return 0;
    return (ndcg.of(after, METRIC_OPTIONS) ?? 0) - (ndcg.of(before, METRIC_OPTIONS) ?? 0);
  });
}

function deviationOf(population: Population, change: Change, queries: number): number {
  const values = differences(population, change, queries);
  return Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
}

/** The change whose mean difference over all queries is the wanted one. */
function withGain(population: Population, neutral: Change, wanted: number, queries: number): Change {
  const total = (change: Change): number =>
    differences(population, change, queries).reduce((sum, value) => sum + value, 0) / queries;
  // The neutral change has no effect by construction. What the sample shows of one is the sample's own error.
  const error = total(neutral);
  let [low, high] = [0, 4 * SIGNAL];
  for (let step = 0; step < 12; step++) {
    const after = (low + high) / 2;
    if (total({ ...neutral, after }) - error < wanted) low = after;
    else high = after;
  }
  return { ...neutral, after: (low + high) / 2 };
}
