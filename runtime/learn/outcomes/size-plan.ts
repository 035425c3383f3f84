import { DataSetProblem } from '../dataset/problem.js';
import { adjusted, adjustmentOf } from '../evaluation/adjustment.js';
import { detectableEffect, unitsNeeded } from '../evaluation/experiment-tests.js';
import { UnitMoments, type Moments } from '../evaluation/unit-moments.js';
import type { ReportPlan, ReportSources } from './report-plan.js';
import { scanWarnings } from './report-warnings.js';
import { scanExperiment } from './scan-experiment.js';
import { inTurns } from '../../ground/core/pieces.js';
import { unitOutcomes } from './unit-outcomes.js';

const DAY = 86_400_000;
/** The rate of new units is that of the last days of the log. */
const RATE_DAYS = 7;

/** What it takes to find an effect with a probability of 80 %, by one look at the end. */
export interface Size {
  /** Relative to control. */
  readonly effect: number;
  /** Of all arms. */
  readonly units: number;
  /** Until the last of them has its first request. */
  readonly days: number;
}

export interface SizePlan {
  readonly plan: ReportPlan;
  /** Mature units of the log that the figures come from, and when they came. */
  readonly units: number;
  readonly first: number;
  readonly last: number;
  /** New units a day that would take part. */
  readonly daily: number;
  readonly mean: number;
  readonly deviation: number;
  /** With the time before; undefined without `adjust`. */
  readonly correlation: number | undefined;
  readonly sizes: readonly { readonly raw: Size; readonly adjusted: Size | undefined }[];
  /** What an experiment with the dates of the file would find; undefined if the file has no end in the future. */
  readonly dated: { readonly raw: Size; readonly adjusted: Size | undefined } | undefined;
  readonly warnings: readonly string[];
}

/**
 * Plans an experiment from the requests that its pipeline had: their units are what the experiment will have.
 * @param takes which requests take part: those of a pipeline, and the share of their units
 * @param effects relative to control
 * @throws DataSetProblem if the log tells too little
 */
export async function sizePlan(
  plan: ReportPlan,
  takes: { readonly pipeline: string; readonly share: number },
  sources: ReportSources,
  effects: readonly number[],
): Promise<SizePlan> {
  const { metric, arms, from, until } = plan;
  const all: ReportPlan = {
    ...plan,
    ...{ population: takes.pipeline, arms: [{ name: 'all', weight: 1 }], secondary: [] },
    ...{ guards: [], from: -Infinity, until: Infinity },
  };
  const scanned = await scanExperiment(all, sources);
  const { arms: found, arrivals, first, last } = await inTurns(unitOutcomes(all, scanned));
  const moments = found.get('all')?.metrics[0] ?? new UnitMoments();
  if (!(Math.abs(moments.value) > 0 && moments.variance > 0))
    throw new DataSetProblem(
      `the metric of ${moments.units} mature ${plan.unitField}s of ${takes.pipeline} does not vary, so no size is known`,
      'the log has to be longer than `within` and `adjust: { before }` together, and needs feedback of the metric',
    );
  const adjustment = metric.before === undefined ? undefined : adjustmentOf([moments]);
  const better = adjustment && adjusted(moments, adjustment);
  const arriving = new Arrivals(arrivals, takes.share);
  const [control, ...others] = arms.map(({ weight }) => weight);
  const whole = arms.reduce((sum, { weight }) => sum + weight, 0);
  // The arm with the fewest units decides how long all run.
  const parts = whole / (control ?? 1) + whole / Math.min(...others);
  /** The standard error of a difference if both arms together had one unit. */
  const errorOf = ({ units, variance }: Moments): number => Math.sqrt(variance * units * parts);
  const sizeOf = (of: Moments, effect: number): Size => {
    const needed = Math.ceil(unitsNeeded(errorOf(of), effect * Math.abs(moments.value)));
    const units = Math.max(arms.length, needed);
    return { effect, units, days: arriving.daysOf(units) };
  };
  const both = <One>(make: (of: Moments) => One): { raw: One; adjusted: One | undefined } => ({
    raw: make(moments),
    adjusted: better && make(better),
  });
  const days = (until - Math.max(from, sources.at)) / DAY;
  const units = Math.floor(arriving.unitsIn(days));
  return {
    plan,
    ...{ units: moments.units, first, last, daily: arriving.daily, mean: moments.value },
    deviation: Math.sqrt(moments.variance * moments.units),
    correlation: adjustment?.correlation,
    sizes: effects.map((effect) => both((of) => sizeOf(of, effect))),
    dated:
      Number.isFinite(days) && units > 0
        ? both((of) => ({
            ...{ units, days },
            effect: detectableEffect(errorOf(of) / Math.sqrt(units)) / Math.abs(moments.value),
          }))
        : undefined,
    warnings: scanWarnings(all, scanned),
  };
}

/** How many new units come each day: as in the log, and after that as in its last days. */
class Arrivals {
  /** Of each full day. */
  readonly #counts: readonly number[];
  readonly daily: number;

  constructor(byDay: ReadonlyMap<number, number>, share: number) {
    const days = [...byDay.keys()];
    const first = Math.min(...days);
    const length = Math.max(...days) - first;
    // The last day of the log may be incomplete.
    const counts = Array.from(
      { length: Math.max(1, length) },
      (_, at) => share * (byDay.get(first + at) ?? 0),
    );
    const recent = counts.slice(-RATE_DAYS);
    this.#counts = counts;
    this.daily = recent.reduce((sum, count) => sum + count, 0) / recent.length;
  }

  daysOf(units: number): number {
    let rest = units;
    for (const [day, count] of this.#counts.entries()) {
      rest -= count;
      if (rest <= 0) return day + 1;
    }
    return this.#counts.length + Math.ceil(rest / this.daily);
  }

  unitsIn(days: number): number {
    const known = this.#counts.slice(0, Math.max(0, Math.floor(days)));
    return known.reduce((sum, count) => sum + count, 0) + (days - known.length) * this.daily;
  }
}
