import {
  offPolicyEstimate,
  type DrawnPage,
  type DrawnPlace,
  type Estimator,
  type OffPolicyEstimate,
  type Reward,
} from '../../learn/off-policy/estimate.js';
import type { CliContext } from '../context.js';
import { CommandFailure } from '../failure.js';
import { startProgress } from '../load/progress.js';
import type { Contestant } from './contestants.js';
import { readDraws, type LoggedDraws } from './drawn-pages.js';
import { readGrades } from './logged-requests.js';
import { runWhole } from './run-whole.js';

/** With fewer effective pages, the estimate and its interval mean nothing. */
const FEWEST_EFFECTIVE = 100;

/** What an evaluated pipeline shows: its ranking, or each candidate with the probability that is its score. */
export const TARGETS = ['ranking', 'score'] as const;
export type Target = (typeof TARGETS)[number];

export interface OffPolicyFlags {
  readonly estimator: Estimator;
  readonly reward: Reward;
  readonly target: Target;
  readonly loggedBy?: string;
  readonly label: ReadonlyMap<string, number>;
}

export interface OffPolicyReport {
  readonly pipeline: string;
  readonly loggedBy: string;
  readonly estimator: Estimator;
  readonly reward: Reward;
  readonly label: ReadonlyMap<string, number>;
  readonly estimate: OffPolicyEstimate;
}

/**
 * Estimates the value of a pipeline that never ran from pages whose places were drawn.
 * @throws CommandFailure if the log has no propensities, or too few pages that the pipeline would show too
 */
export async function runOffPolicy(
  context: CliContext,
  flags: OffPolicyFlags,
  ledger: string,
  last: number,
  contestant: Contestant,
): Promise<OffPolicyReport> {
  const logged = await readDraws(context, ledger, last, flags.loggedBy, contestant);
  const requests = logged.map(({ request }) => request);
  const grades = await readGrades(context, ledger, requests, flags.label);
  const pages: DrawnPage[] = [];
  const progress = startProgress(context.stderr, 'ranking', logged.length, 'requests');
  try {
    for (const [at, one] of logged.entries()) {
      const targets = await targetsOf(contestant, flags.target, one, `logged-${at + 1}`);
      pages.push(drawnPage(one, targets, grades.get(one.request.requestId)));
      progress.update(pages.length, pages.length);
    }
  } finally {
    progress.stop();
  }
  const estimate = offPolicyEstimate(pages, flags.estimator, flags.reward);
  const { effective, largest, unsupported } = estimate;
  if (!(effective >= FEWEST_EFFECTIVE))
    throw new CommandFailure(
      `only ${Math.floor(effective)} of ${pages.length} logged pages are effective, and ${FEWEST_EFFECTIVE} are needed ` +
        `(largest weight ${largest.toPrecision(3)}, unsupported ${(100 * unsupported).toFixed(1)} %)`,
      'the pipeline shows what the log seldom drew: log more explored pages, or use a reward that needs less, such as item_position',
    );
  return {
    pipeline: contestant.definition.name,
    loggedBy: logged[0]?.pipeline ?? '',
    estimator: flags.estimator,
    reward: flags.reward,
    label: flags.label,
    estimate,
  };
}

/** For each candidate: its probability at each place of the log. */
type TargetOf = (id: string, place: number) => number;

async function targetsOf(
  contestant: Contestant,
  target: Target,
  { request: { body } }: LoggedDraws,
  requestId: string,
): Promise<TargetOf> {
  const { ranked } = await runWhole(contestant, body, requestId);
  if (target === 'ranking') {
    const places = new Map(ranked.map(({ candidate_id: id }, at) => [id, at + 1]));
    return (id, place) => (places.get(id) === place ? 1 : 0);
  }
  const scores = new Map(ranked.map(({ candidate_id: id, ranked_score: score }) => [id, score]));
  for (const [id, score] of scores)
    if (!(score >= 0 && score <= 1))
      throw new CommandFailure(
        `the score of ${id} is ${score}, but with --target score it is a probability, 0 to 1`,
        'leave out --target to evaluate the ranking of the pipeline',
      );
  return (id) => scores.get(id) ?? 0;
}

function drawnPage(
  { unit, request, draws }: LoggedDraws,
  targetOf: TargetOf,
  grades: ReadonlyMap<string, number> | undefined,
): DrawnPage {
  const placed = request.candidates.filter(({ place }) => place > 0).sort((a, b) => a.place - b.place);
  const first = placed.findIndex(({ onPage }) => onPage);
  const drawn = ({ id, place }: (typeof placed)[number]): DrawnPlace => {
    const { propensity = NaN, marginal = NaN } = draws.get(id) ?? {};
    return {
      place,
      target: targetOf(id, place),
      // A place that was not drawn could only have this candidate.
      propensity: Number.isNaN(propensity) ? 1 : propensity,
      marginal: Number.isNaN(marginal) ? 1 : marginal,
      reward: grades?.get(id) ?? 0,
    };
  };
  return {
    unit,
    above: placed
      .slice(0, Math.max(0, first))
      .map(drawn)
      .reduce((product, { target, propensity }) => product * (target / propensity), 1),
    places: placed.filter(({ onPage }) => onPage).map(drawn),
  };
}

/** What `evaluate --estimator` prints. */
export function offPolicyText({
  pipeline,
  loggedBy,
  estimator,
  reward,
  label,
  estimate,
}: OffPolicyReport): string {
  const { value, interval, logged, pages, units, effective, largest, unsupported, unsupportedError } =
    estimate;
  const number = (one: number): string => one.toFixed(4);
  const grades = Array.from(label, ([kind, grade]) => `${kind}=${grade}`).join(', ');
  // Three standard errors: two are exceeded by chance too often.
  const lost = unsupported > 1.5 * unsupportedError;
  return [
    `${pipeline} instead of ${loggedBy}, on ${pages.toLocaleString('en')} logged pages of ${units.toLocaleString('en')} users`,
    `value of a page   ${number(value)} [${number(interval.lower)}, ${number(interval.upper)}]  ${estimator}, ${reward}; ${grades}`,
    `as logged         ${number(logged)}`,
    `effective pages   ${Math.floor(effective).toLocaleString('en')}`,
    `largest weight    ${largest.toFixed(2)}`,
    `unsupported       ${(100 * unsupported).toFixed(1)} % ± ${(100 * unsupportedError).toFixed(1)}`,
    ...(lost
      ? [
          'warning: the log could not have shown a part of what the pipeline shows;',
          '    ips leaves that part out of the value, and snips takes it for like the rest',
        ]
      : []),
    '',
  ].join('\n');
}

export function offPolicyJson({ estimate, label, loggedBy, ...rest }: OffPolicyReport): object {
  const { interval, unsupportedError, ...figures } = estimate;
  return {
    ...rest,
    logged_by: loggedBy,
    label: Object.fromEntries(label),
    ...figures,
    lower: interval.lower,
    upper: interval.upper,
    unsupported_error: unsupportedError,
  };
}
