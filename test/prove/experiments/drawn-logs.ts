import { checkSupport } from '../../../runtime/learn/judge/off-policy.js';
import { CommandFailure } from '../../../runtime/project/config/diagnostics/failure.js';
import type { Random } from '../../../runtime/ground/core/random.js';
import { SwapExamination, type ShownCandidate } from '../../../runtime/learn/off-policy/examination.js';
import {
  offPolicyEstimate,
  type DrawnPage,
  type Estimator,
  type OffPolicyEstimate,
  type Reward,
} from '../../../runtime/learn/off-policy/estimate.js';

const CANDIDATES = 4;
const CONTEXTS = 20;
/** The logged pipeline draws by scores times this number: the larger, the less it explores. */
const SHARPNESS = 1.5;

/** A kind of request: what its candidates are worth, the scores of the log, and the ranking that is evaluated. */
interface Context {
  readonly worth: readonly number[];
  readonly strength: readonly number[];
  readonly target: readonly number[];
  /** The probability of each candidate at each place: [candidate][place - 1]. */
  readonly marginal: readonly (readonly number[])[];
}

/** Users look at a place with this probability. */
function looks(place: number): number {
  return 1 / Math.sqrt(place);
}

export function drawContexts(random: Random): readonly Context[] {
  return Array.from({ length: CONTEXTS }, () => {
    const worth = Array.from({ length: CANDIDATES }, () => 0.05 + 0.6 * random.next());
    const strength = worth.map(() => Math.exp(SHARPNESS * random.next()));
    const target = [...worth.keys()].sort((a, b) => (worth[b] ?? 0) - (worth[a] ?? 0));
    const marginal = worth.map(() => new Array<number>(CANDIDATES).fill(0));
    const visit = (left: readonly number[], place: number, probability: number): void => {
      const all = left.reduce((sum, one) => sum + (strength[one] ?? 0), 0);
      for (const one of left) {
        const drawn = (probability * (strength[one] ?? 0)) / all;
        const own = marginal[one];
        if (own !== undefined) own[place] = (own[place] ?? 0) + drawn;
        visit(
          left.filter((other) => other !== one),
          place + 1,
          drawn,
        );
      }
    };
    visit([...worth.keys()], 0, 1);
    return { worth, strength, target, marginal };
  });
}

/** The value of the evaluated ranking: the mean number of clicks on its page. */
export function trueValue(contexts: readonly Context[]): number {
  const values = contexts.map(({ worth, target }) =>
    target.reduce((sum, one, at) => sum + (worth[one] ?? 0) * looks(at + 1), 0),
  );
  return values.reduce((sum, one) => sum + one, 0) / values.length;
}

/** Draws pages by the scores of the log (Plackett-Luce), with clicks by place and worth. */
export function drawLog(contexts: readonly Context[], pages: number, random: Random): readonly DrawnPage[] {
  return Array.from({ length: pages }, (_, number): DrawnPage => {
    const context = contexts[Math.floor(random.next() * contexts.length)] as Context;
    const { worth, strength, target, marginal } = context;
    const left = [...worth.keys()];
    const places = worth.map((_worth, at) => {
      const all = left.reduce((sum, one) => sum + (strength[one] ?? 0), 0);
      let point = random.next() * all;
      let chosen = left.findIndex((one) => (point -= strength[one] ?? 0) < 0);
      if (chosen === -1) chosen = left.length - 1;
      const [one = 0] = left.splice(chosen, 1);
      return {
        place: at + 1,
        target: target[at] === one ? 1 : 0,
        propensity: (strength[one] ?? 0) / all,
        marginal: marginal[one]?.[at] ?? 0,
        reward: random.chance((worth[one] ?? 0) * looks(at + 1)) ? 1 : 0,
      };
    });
    return { unit: String(number), above: 1, places };
  });
}

/** The share of simulated logs whose interval contains the true value. */
export function offPolicyCoverage(
  contexts: readonly Context[],
  logs: number,
  pages: number,
  estimator: Estimator,
  reward: Reward,
  random: Random,
): number {
  const truth = trueValue(contexts);
  let covered = 0;
  for (let log = 0; log < logs; log++) {
    const { interval } = offPolicyEstimate(drawLog(contexts, pages, random), estimator, reward, 1);
    if (interval.lower <= truth && truth <= interval.upper) covered += 1;
  }
  return covered / logs;
}

/**
 * Draws a log of pages with one place. It draws one of four candidates with the same probability; the pipeline shows the first.
 * On a share of the pages the log never draws the first, which users like better there than elsewhere.
 * @param unsupported that share
 * @returns the pages, and the value of the pipeline
 */
export function drawSupported(
  unsupported: number,
  pages: number,
  random: Random,
): readonly [pages: readonly DrawnPage[], truth: number] {
  const drawn = Array.from({ length: pages }, (_, at): DrawnPage => {
    const isSupported = !random.chance(unsupported);
    const shown = isSupported ? random.between(0, 3) : random.between(1, 3);
    const reward = random.chance(shown === 0 ? 0.3 : 0.2) ? 1 : 0;
    const propensity = isSupported ? 1 / 4 : 1 / 3;
    const target = shown === 0 ? 1 : 0;
    return {
      unit: `u${at}`,
      above: 1,
      places: [{ place: 1, target, propensity, marginal: propensity, reward }],
    };
  });
  return [drawn, 0.3 * (1 - unsupported) + 0.6 * unsupported];
}

/** What became of logs of one support: shares that add up to 1. */
export interface Told {
  readonly refused: number;
  readonly covered: number;
  readonly missed: number;
}

/** How often `evaluate --estimator` refuses logs of a stated support, and how often its interval contains the true value. */
export function toldOf(
  unsupported: number,
  logs: number,
  pages: number,
  estimator: Estimator,
  random: Random,
): Told {
  let [refused, covered] = [0, 0];
  for (let log = 0; log < logs; log++) {
    const [drawn, truth] = drawSupported(unsupported, pages, random);
    const estimate = offPolicyEstimate(drawn, estimator, 'page', 1);
    const { lower, upper } = estimate.interval;
    if (isRefused(estimate)) refused += 1;
    else if (lower <= truth && truth <= upper) covered += 1;
  }
  return { refused: refused / logs, covered: covered / logs, missed: 1 - (refused + covered) / logs };
}

function isRefused(estimate: OffPolicyEstimate): boolean {
  try {
    checkSupport(estimate, 'log');
    return false;
  } catch (error) {
    if (error instanceof CommandFailure) return true;
    throw error;
  }
}

const PLACES = 10;
const SWAP = 0.4;

/** The largest relative error of the examination of a place, estimated from swaps of neighbours. */
export function examinationError(pages: number, random: Random): number {
  const estimator = new SwapExamination();
  for (let page = 0; page < pages; page++) {
    // Better candidates stand further up, so plain clicks by place would mislead.
    const worth = Array.from({ length: PLACES }, (_, at) => (0.2 + 0.6 * random.next()) * (1 - at / 15));
    const shown = new Map<number, ShownCandidate>();
    const show = (place: number, before: number, propensity: number): void => {
      const clicked = random.chance((worth[before - 1] ?? 0) * looks(place));
      shown.set(place, { place, before, propensity, marginal: propensity, clicked });
    };
    for (let place = 1; place <= PLACES; place++) {
      if (place < PLACES && random.chance(SWAP)) {
        show(place, place + 1, SWAP);
        show(place + 1, place, 1);
        place += 1;
      } else show(place, place, place < PLACES ? 1 - SWAP : 1);
    }
    estimator.add(shown);
  }
  const found = estimator.result();
  if (found.length < PLACES) return Infinity;
  return Math.max(...found.map(({ place, value }) => Math.abs(value / looks(place) - 1)));
}
