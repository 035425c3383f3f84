import {
  offPolicyEstimate,
  type DrawnPage,
  type DrawnPlace,
  type Estimator,
  type OffPolicyEstimate,
  type Reward,
} from '../off-policy/estimate.js';
import type { Console } from '../../ground/core/console.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { startProgress } from '../../ground/core/progress.js';
import type { Contestant } from './contestant.js';
import type { LoggedRequest } from '../../request/pipeline/log/logged-request.js';
import { drawsOf, findDraws, type Draws } from './drawn-pages.js';
import { readGrades, readLoggedRequests } from './logged-requests.js';
import { runWhole } from './run-whole.js';

/** With fewer effective pages, the estimate and its interval mean nothing. */
const FEWEST_EFFECTIVE = 100;
/** With a larger share that the log could not have shown, even the bounds of the value say nothing. */
const MOST_UNSUPPORTED = 0.2;

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
  context: Console,
  flags: OffPolicyFlags,
  ledger: string,
  last: number,
  contestant: Contestant,
): Promise<OffPolicyReport> {
  const logged = await findDraws(context, ledger, last, flags.loggedBy, contestant);
  const grades = await readGrades(context, ledger, logged, flags.label);
  const pages = new Array<DrawnPage>(logged.length);
  const progress = startProgress(context.stderr, 'ranking', logged.length, 'requests');
  try {
    let done = 0;
    for await (const [at, request, record] of readLoggedRequests(logged, contestant)) {
      const targets = await targetsOf(contestant, flags.target, request, `logged-${at + 1}`);
      const page = drawnPage(request, drawsOf(record), targets, grades.of(request.requestId));
      pages[at] = { unit: logged.units.at(at), ...page };
      progress.update(++done, done);
    }
  } finally {
    progress.stop();
  }
  const highest = Math.max(...flags.label.values());
  const estimate = offPolicyEstimate(pages, flags.estimator, flags.reward, highest);
  const loggedBy = logged.pipelines.at(0);
  checkSupport(estimate, loggedBy);
  return {
    pipeline: contestant.definition.name,
    loggedBy,
    estimator: flags.estimator,
    reward: flags.reward,
    label: flags.label,
    estimate,
  };
}

/** @throws CommandFailure if the log cannot tell the value of the pipeline */
export function checkSupport(
  { effective, largest, unsupported, pages }: OffPolicyEstimate,
  loggedBy: string,
): void {
  const support = `largest weight ${largest.toPrecision(3)}, unsupported ${(100 * unsupported).toFixed(1)} %`;
  if (!(effective >= FEWEST_EFFECTIVE))
    throw new CommandFailure(
      `only ${Math.floor(effective)} of ${pages} logged pages are effective, and ${FEWEST_EFFECTIVE} are needed (${support})`,
      'the pipeline shows what the log seldom drew: log more explored pages, or use a reward that needs less, such as item_position',
    );
  if (unsupported > MOST_UNSUPPORTED)
    throw new CommandFailure(
      `${loggedBy} could not have shown ${(100 * unsupported).toFixed(1)} % of what the pipeline shows, and at most ${100 * MOST_UNSUPPORTED} % may be unknown`,
      `let ${loggedBy} explore more places (\`explore: { method: epsilon_greedy, top: … }\`) and log again, or compare the two in an experiment`,
    );
}

/** For each candidate: its probability at each place of the log. */
type TargetOf = (id: string, place: number) => number;

async function targetsOf(
  contestant: Contestant,
  target: Target,
  { body }: LoggedRequest,
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
  { candidates }: LoggedRequest,
  draws: Draws,
  targetOf: TargetOf,
  grades: ReadonlyMap<string, number>,
): Omit<DrawnPage, 'unit'> {
  const placed = candidates.filter(({ place }) => place > 0).sort((a, b) => a.place - b.place);
  const first = placed.findIndex(({ onPage }) => onPage);
  const drawn = ({ id, place }: (typeof placed)[number]): DrawnPlace => {
    const { propensity = NaN, marginal = NaN } = draws.get(id) ?? {};
    return {
      place,
      target: targetOf(id, place),
      // A place that was not drawn could only have this candidate.
      propensity: Number.isNaN(propensity) ? 1 : propensity,
      marginal: Number.isNaN(marginal) ? 1 : marginal,
      reward: grades.get(id) ?? 0,
    };
  };
  return {
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
  const { value, interval, isWidened, logged, pages, units } = estimate;
  const { effective, largest, unsupported, unsupportedError } = estimate;
  const number = (one: number): string => one.toFixed(4);
  const grades = Array.from(label, ([kind, grade]) => `${kind}=${grade}`).join(', ');
  return [
    `${pipeline} instead of ${loggedBy}, on ${pages.toLocaleString('en')} logged pages of ${units.toLocaleString('en')} users`,
    `effective pages   ${Math.floor(effective).toLocaleString('en')}`,
    `largest weight    ${largest.toFixed(2)}`,
    `unsupported       ${(100 * unsupported).toFixed(1)} % ± ${(100 * unsupportedError).toFixed(1)}`,
    `as logged         ${number(logged)}`,
    `value of a page   ${number(value)} [${number(interval.lower)}, ${number(interval.upper)}]  ${estimator}, ${reward}; ${grades}`,
    ...(isWidened
      ? [
          'warning: the log may not have been able to show a part of what the pipeline shows;',
          '    the interval allows 0 to the highest grade for that part',
        ]
      : []),
    '',
  ].join('\n');
}

export function offPolicyJson({ estimate, label, loggedBy, ...rest }: OffPolicyReport): object {
  const { interval, isWidened, unsupportedError, ...figures } = estimate;
  return {
    ...rest,
    logged_by: loggedBy,
    label: Object.fromEntries(label),
    ...figures,
    lower: interval.lower,
    upper: interval.upper,
    unsupported_error: unsupportedError,
    widened: isWidened,
  };
}
