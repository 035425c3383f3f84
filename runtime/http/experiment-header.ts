import type { Request, Response } from 'express';
import { refusalOf } from '../access/authorize.js';
import { MillraceError } from '../api/errors.js';
import type { ArmOverrides, TakenArm } from '../experiments/live-experiments.js';
import { requestState } from './request-state.js';

/** In an answer: the experiments of the request, and its arms. In a request: the arms that it asks for. */
export const EXPERIMENT_HEADER = 'Millrace-Experiment';

const MEMBER = /^([a-z][a-z0-9_]*)=([a-z][a-z0-9_]*)$/;

/** The value of the header of an answer, such as `popularity=popular`. */
export function takenText(taken: readonly TakenArm[]): string {
  return taken.map(({ experiment, arm }) => `${experiment}=${arm}`).join(', ');
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
