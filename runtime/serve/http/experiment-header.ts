import type { ApiKey } from '../access/api-key.js';
import { refusalOf } from '../access/authorize.js';
import { MillraceError } from '../../ground/api/errors.js';
import type { ArmOverrides } from '../../request/experiments/live-experiments.js';
import type { PageTeams, RunReport } from '../../request/pipeline/types.js';

/** In an answer: the experiments of the request, and its arms. In a request: the arms that it asks for. */
export const EXPERIMENT_HEADER = 'Millrace-Experiment';

const MEMBER = /^([a-z][a-z0-9_]*)=([a-z][a-z0-9_]*)$/;

/** An interleaved answer says who placed so many candidates. Clients and proxies limit the length of headers. */
const MOST_TEAMS = 1000;

/**
 * The value of the header of an answer, such as `popularity=popular`. An interleaved member has the parameter `teams`,
 * with one character for each candidate of the page: `0` if control placed it, `1` if the other arm did, `-` if both did.
 */
export function takenText({
  experiments,
  interleaved,
}: Pick<RunReport, 'experiments' | 'interleaved'>): string {
  return experiments
    .map(({ experiment, arm }) => {
      const member = `${experiment}=${arm}`;
      return interleaved?.experiment === experiment ? `${member};teams="${teamsText(interleaved)}"` : member;
    })
    .join(', ');
}

function teamsText({ teams }: PageTeams): string {
  return teams
    .slice(0, MOST_TEAMS)
    .map((team) => '-01'[team])
    .join('');
}

/**
 * The arms that a request asks for.
 * @param text the value of its header
 * @param key the key of the request
 * @throws MillraceError scope_missing if its key lacks the scope; invalid_header if the header is not a list of arms
 */
export function askedArms(text: string, key: ApiKey | undefined): ArmOverrides {
  const refusal = key && refusalOf(key, { scope: 'experiments' });
  if (refusal !== undefined) throw refusal;
  const members = text.split(',').map((member) => MEMBER.exec(member.trim()));
  if (members.includes(null))
    throw new MillraceError(
      'invalid_header',
      `${EXPERIMENT_HEADER}: expected a list such as popularity=popular, text=control`,
    );
  return new Map(members.map((member) => [member?.[1] ?? '', member?.[2] ?? '']));
}
