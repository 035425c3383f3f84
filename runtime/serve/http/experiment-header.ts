import type { Request, Response } from 'express';
import { refusalOf } from '../access/authorize.js';
import { MillraceError } from '../../ground/api/errors.js';
import type { ArmOverrides } from '../../request/experiments/live-experiments.js';
import type { PageTeams } from '../../request/pipeline/interleave/mixed-run.js';
import type { RunReport } from '../../request/pipeline/types.js';
import { requestState } from './request-state.js';

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
 * The arms that a request asks for; undefined if it asks for none.
 * @throws MillraceError scope_missing if its key lacks the scope; invalid_header if the header is not a list of arms
 */
export function askedArms(req: Request, res: Response): ArmOverrides | undefined {
  const text = req.get(EXPERIMENT_HEADER);
  if (text === undefined) return undefined;
  const { key } = requestState(res);
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
