import { Random } from '../../runtime/ground/core/random.js';
import { adjusted, adjustmentOf } from '../../runtime/learn/evaluation/adjustment.js';
import { alwaysFactor, effectOf, type Effect } from '../../runtime/learn/evaluation/effect.js';
import { ESTIMATORS, REWARDS } from '../../runtime/learn/off-policy/estimate.js';
import { UnitMoments } from '../../runtime/learn/evaluation/unit-moments.js';
import { drawContexts, examinationError, offPolicyCoverage, toldOf } from './experiments/drawn-logs.js';
import { costOf, type Cost } from './experiments/interleaving.js';
import { ADJUSTED, clicksPerRequest, revenue, type Population } from './experiments/populations.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';

/** The seeds are fixed, so that nobody can choose the runs that look best. */
const SEEDS = {
  equal: 20261201,
  known: 20261202,
  peeks: 20261203,
  bootstrap: 20261204,
  interleaving: 20261205,
  contexts: 20261206,
  logs: 20261207,
  swaps: 20261208,
  past: 20261209,
  adjustedEqual: 20261210,
  adjustedKnown: 20261211,
  adjustedPeeks: 20261212,
  support: 20261213,
};
/** The units of an arm. */
const UNITS = 1000;
/** The units of both arms at the horizon of an experiment that is looked at again and again. */
const HORIZON = 4000;
const BETWEEN_PEEKS = 100;
const LIFT = 0.1;
const DATA_SETS = 50;
const RESAMPLES = 2000;
const EFFECTS = [0.01, 0.02, 0.05];
const PAGES_OF_LOG = 2000;
const SWAPPED_PAGES = 2_000_000;
/** By log: the share of what the pipeline shows that the log could never have shown. */
const UNSUPPORTED = Array.from({ length: 20 }, (_, log) => log / 40);
/** From here on a log of so many pages looks like one with less than 20 % in fewer than 1 of 1,000 cases. */
const SURELY_REFUSED = 0.35;
const POPULATIONS: readonly Population[] = [revenue, clicksPerRequest];

/** The bounds of a share among so many simulations. With fewer simulations the shares vary more. */
const BOUNDS = {
  full: {
    simulations: 10_000,
    rejected: [0.043, 0.057],
    covered: [0.943, 0.957],
    always: 0.945,
    adjusted: { simulations: 10_000, past: 1_000_000, covered: [0.94, 0.96], always: 0.95 },
    logs: 1000,
    valued: [0.93, 0.97],
    supported: { logs: 200, told: 0.9, all: 0.95 },
  },
  short: {
    simulations: 2000,
    rejected: [0.034, 0.066],
    covered: [0.934, 0.966],
    always: 0.94,
    adjusted: { simulations: 500, past: 200_000, covered: [0.92, 0.98], always: 0.95 },
    logs: 300,
    valued: [0.91, 0.985],
    supported: { logs: 40, told: 0.8, all: 0.94 },
  },
} as const;

/** Simulates experiments whose truth is known, and counts how often the report's statistics are right. */
export const experiments: Proof = {
  name: 'experiments',
  summary: 'intervals of experiments hold the truth as often as they say; interleaving against a split',
  page: 'experiments/reports.md',
  run: prove,
};

function prove({ short }: ProofOptions): Promise<ProofResult> {
  const bounds = BOUNDS[short ? 'short' : 'full'];
  const missed: string[] = [];
  const within = (what: string, value: number, low: number, high: number): void => {
    if (!(value >= low && value <= high)) missed.push(`${what}: ${value}, expected ${low} to ${high}`);
  };
  const rows = POPULATIONS.map((population) => {
    const rejected = 1 - coverage(population, 0, SEEDS.equal, bounds.simulations).covered;
    within(`A/A rejections, ${population.name}`, rejected, bounds.rejected[0], bounds.rejected[1]);
    const { covered } = coverage(population, LIFT, SEEDS.known, bounds.simulations);
    within(`coverage, ${population.name}`, covered, bounds.covered[0], bounds.covered[1]);
    const always = coverageOfPeeks(population, LIFT, SEEDS.peeks, bounds.simulations);
    within(`coverage at every peek, ${population.name}`, always.always, bounds.always, 1);
    return `| ${population.name} | ${[rejected, covered, always.always, always.fixed].map(percent).join(' | ')} |`;
  });
  const adjustedRows = ADJUSTED.map((population) => adjustedRow(population, bounds, within));
  const widths = [500, HORIZON, 100_000, 1_000_000].map((units) => ({
    units,
    ratio: alwaysFactor(units) / 1.96,
  }));
  for (const { units, ratio } of widths) within(`width at ${units} units`, ratio, 1, 2);
  const { mean, most } = deltaAgainstBootstrap();
  within('mean ratio of the delta method to the bootstrap', mean, 0.98, 1.02);
  within('largest difference of the delta method to the bootstrap', most, 0, 0.08);
  const costs = EFFECTS.map((effect) => {
    const cost = costOf(effect, {
      seed: SEEDS.interleaving,
      pool: short ? 100_000 : 400_000,
      experiments: short ? 300 : 1000,
    });
    const slack = short ? 0.09 : 0.05;
    within(`power of the split, effect ${effect}`, cost.split.power, 0.8 - slack, 0.8 + slack);
    within(`power of interleaving, effect ${effect}`, cost.interleaving.power, 0.8 - slack, 0.8 + slack);
    within(`requests of interleaving, effect ${effect}`, cost.interleaving.requests, 0, cost.split.requests);
    return cost;
  });
  const contexts = drawContexts(new Random(SEEDS.contexts));
  const logs = REWARDS.map((reward) => {
    const random = new Random(SEEDS.logs);
    const covered = offPolicyCoverage(contexts, bounds.logs, PAGES_OF_LOG, 'snips', reward, random);
    within(`coverage of SNIPS, ${reward}`, covered, bounds.valued[0], bounds.valued[1]);
    return `| ${reward} | ${percent(covered)} |`;
  });
  const supportRows = supportTable(bounds.supported, within);
  const error = examinationError(SWAPPED_PAGES, new Random(SEEDS.swaps));
  within('largest relative error of the examination of a place', error, 0, 0.05);
  const markdown = [
    markdownOf(bounds.simulations, rows, widths, mean, most, costs),
    '',
    `${number(bounds.adjusted.simulations)} simulated experiments with \`adjust\`. ρ is the correlation with the past, from ${number(bounds.adjusted.past)} other units.`,
    'The variance is that of the adjusted effect divided by that of the raw effect, and should be 1 − ρ²:',
    '',
    `| metric | 1 − ρ² | variance | A/A: rejected | true effect: covered | always-valid: covered at all ${HORIZON / BETWEEN_PEEKS} peeks |`,
    '| ------ | -----: | -------: | ------------: | -------------------: | -------------------------------------: |',
    ...adjustedRows,
    '',
    `${number(bounds.logs)} simulated logs of ${number(PAGES_OF_LOG)} pages that were drawn by Plackett-Luce; the value of another ranking by SNIPS:`,
    '',
    '| reward | covered |',
    '| ------ | ------: |',
    ...logs,
    '',
    `20 logs with a stated support, each drawn ${number(bounds.supported.logs)} times with ${number(PAGES_OF_LOG)} pages. \`evaluate --estimator\` refuses, or its`,
    'interval covers the true value, or it misses it:',
    '',
    '| unsupported | IPS: refused | covered | missed | SNIPS: refused | covered | missed |',
    '| ----------: | -----------: | ------: | -----: | -------------: | ------: | -----: |',
    ...supportRows,
    '',
    `Examination of ten places from ${number(SWAPPED_PAGES)} pages with swapped neighbours: the largest error is ${percent(error)}.`,
  ].join('\n');
  return Promise.resolve({ markdown, missed });
}

/** What `evaluate --estimator` says of logs whose support is known. */
function supportTable(
  bounds: (typeof BOUNDS)['full' | 'short']['supported'],
  within: (what: string, value: number, low: number, high: number) => void,
): readonly string[] {
  const random = new Random(SEEDS.support);
  let missed = 0;
  const rows = UNSUPPORTED.map((unsupported) => {
    const cells = ESTIMATORS.flatMap((estimator) => {
      const told = toldOf(unsupported, bounds.logs, PAGES_OF_LOG, estimator, random);
      const name = `${estimator}, ${percent(unsupported)} unsupported`;
      within(`covered or refused, ${name}`, 1 - told.missed, bounds.told, 1);
      if (unsupported === 0) within(`refused, ${name}`, told.refused, 0, 0);
      if (unsupported >= SURELY_REFUSED) within(`refused, ${name}`, told.refused, 0.99, 1);
      missed += told.missed;
      return [told.refused, told.covered, told.missed].map(percent);
    });
    return `| ${[percent(unsupported), ...cells].join(' | ')} |`;
  });
  const all = 1 - missed / (ESTIMATORS.length * UNSUPPORTED.length);
  within('covered or refused, all logs', all, bounds.all, 1);
  return rows;
}

/** Simulates experiments whose units have a past, with the effect that is adjusted by it. */
function adjustedRow(
  population: Population,
  { adjusted: bounds }: (typeof BOUNDS)['full' | 'short'],
  within: (what: string, value: number, low: number, high: number) => void,
): string {
  const { name } = population;
  const { simulations } = bounds;
  const everybody = new UnitMoments();
  const random = new Random(SEEDS.past);
  for (let unit = 0; unit < bounds.past; unit++) population.draw(random, 0, everybody);
  const expected = 1 - adjustmentOf([everybody]).correlation ** 2;
  const equal = coverage(population, 0, SEEDS.adjustedEqual, simulations, adjustedEffect);
  within(`A/A coverage, adjusted ${name}`, equal.covered, bounds.covered[0], bounds.covered[1]);
  within(`variance, adjusted ${name}, in (1 − ρ²) of the raw one`, equal.variance / expected, 0.98, 1.02);
  const { covered } = coverage(population, LIFT, SEEDS.adjustedKnown, simulations, adjustedEffect);
  within(`coverage, adjusted ${name}`, covered, bounds.covered[0], bounds.covered[1]);
  const peeks = coverageOfPeeks(population, LIFT, SEEDS.adjustedPeeks, simulations, adjustedEffect);
  within(`coverage at every peek, adjusted ${name}`, peeks.always, bounds.always, 1);
  const shares = [expected, equal.variance].map((share) => share.toFixed(4));
  return `| ${[name, ...shares, ...[1 - equal.covered, covered, peeks.always].map(percent)].join(' | ')} |`;
}

type EffectOf = (arm: UnitMoments, control: UnitMoments) => Effect;

function adjustedEffect(arm: UnitMoments, control: UnitMoments): Effect {
  const adjustment = adjustmentOf([arm, control]);
  return effectOf(adjusted(arm, adjustment), adjusted(control, adjustment));
}

/**
 * The share of experiments whose fixed interval contains the true difference, and the squared standard error of the
 * difference as a share of that of the difference of the metrics.
 */
function coverage(
  population: Population,
  lift: number,
  seed: number,
  simulations: number,
  effect: EffectOf = effectOf,
): { readonly covered: number; readonly variance: number } {
  const random = new Random(seed);
  const truth = population.truth(lift) - population.truth(0);
  let [covered, variance, raw] = [0, 0, 0];
  for (let i = 0; i < simulations; i++) {
    const [control, arm] = [new UnitMoments(), new UnitMoments()];
    for (let unit = 0; unit < UNITS; unit++) {
      population.draw(random, 0, control);
      population.draw(random, lift, arm);
    }
    const { fixed, standardError } = effect(arm, control);
    if (fixed.lower <= truth && truth <= fixed.upper) covered += 1;
    variance += standardError ** 2;
    raw += arm.variance + control.variance;
  }
  return { covered: covered / simulations, variance: variance / raw };
}

/** The share of experiments whose intervals contain the true difference at every peek: the always-valid and the fixed. */
function coverageOfPeeks(
  population: Population,
  lift: number,
  seed: number,
  simulations: number,
  effectBy: EffectOf = effectOf,
): { readonly always: number; readonly fixed: number } {
  const random = new Random(seed);
  const truth = population.truth(lift) - population.truth(0);
  let [always, fixed] = [0, 0];
  for (let i = 0; i < simulations; i++) {
    const [control, arm] = [new UnitMoments(), new UnitMoments()];
    let [alwaysHolds, fixedHolds] = [true, true];
    for (let units = 2; units <= HORIZON; units += 2) {
      population.draw(random, 0, control);
      population.draw(random, lift, arm);
      if (units % BETWEEN_PEEKS !== 0) continue;
      const effect = effectBy(arm, control);
      // An interval without a variance says nothing, so it does not exclude the truth.
      if (!(effect.standardError > 0)) continue;
      alwaysHolds &&= effect.always.lower <= truth && truth <= effect.always.upper;
      fixedHolds &&= effect.fixed.lower <= truth && truth <= effect.fixed.upper;
    }
    if (alwaysHolds) always += 1;
    if (fixedHolds) fixed += 1;
  }
  return { always: always / simulations, fixed: fixed / simulations };
}

/** The ratio of the standard errors by the delta method and by the bootstrap over units, on several data sets. */
function deltaAgainstBootstrap(): { readonly mean: number; readonly most: number } {
  const random = new Random(SEEDS.bootstrap);
  const ratios = Array.from({ length: DATA_SETS }, () => {
    const units: (readonly [number, number])[] = [];
    const keep = { add: (outcome: number, base = 1) => units.push([outcome, base]) };
    for (let unit = 0; unit < UNITS; unit++) clicksPerRequest.draw(random, 0, keep);
    const delta = new UnitMoments();
    for (const [outcome, base] of units) delta.add(outcome, base);
    const resampled = new UnitMoments();
    for (let sample = 0; sample < RESAMPLES; sample++) {
      let [outcomes, bases] = [0, 0];
      for (let i = 0; i < UNITS; i++) {
        const [outcome, base] = units[Math.floor(random.next() * UNITS)] ?? [0, 0];
        outcomes += outcome;
        bases += base;
      }
      resampled.add(outcomes / bases);
    }
    return Math.sqrt(delta.variance / (resampled.variance * RESAMPLES));
  });
  return {
    mean: ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length,
    most: Math.max(...ratios.map((ratio) => Math.abs(ratio - 1))),
  };
}

function markdownOf(
  simulations: number,
  rows: readonly string[],
  widths: readonly { readonly units: number; readonly ratio: number }[],
  mean: number,
  most: number,
  costs: readonly Cost[],
): string {
  return [
    `${number(simulations)} simulated experiments each; a fixed interval is looked at once, except in the last column:`,
    '',
    `| metric | A/A: rejected | true effect: covered | always-valid: covered at all ${HORIZON / BETWEEN_PEEKS} peeks | fixed: covered at all peeks |`,
    '| ------ | ------------: | -------------------: | -------------------------------------: | --------------------------: |',
    ...rows,
    '',
    `Width of an always-valid interval, in widths of a fixed one: ${widths
      .map(({ units, ratio }) => `${ratio.toFixed(2)} at ${number(units)} units`)
      .join(', ')}.`,
    '',
    `Standard error by the delta method, in those of the bootstrap, on ${DATA_SETS} data sets: ${mean.toFixed(3)} on`,
    `average; the largest difference is ${(100 * most).toFixed(1)} %.`,
    '',
    'Requests that find an effect with a probability of 0.8 at 5 %; the effect is the share of requests with a click:',
    '',
    '| effect | requests of a split | power | requests of interleaving | power |',
    '| -----: | ------------------: | ----: | -----------------------: | ----: |',
    ...costs.map(
      ({ effect, split, interleaving }) =>
        `| ${effect} | ${number(split.requests)} | ${split.power.toFixed(2)} | ${number(interleaving.requests)} | ${interleaving.power.toFixed(2)} |`,
    ),
  ].join('\n');
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)} %`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}
