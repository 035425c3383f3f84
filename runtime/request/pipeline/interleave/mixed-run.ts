import type { Rival, TakenArm } from '../../experiments/live-experiments.js';
import type { RankedRow } from '../../ordering/ranking.js';
import type { RankedCandidates } from '../components/run-components.js';
import type { Degradation } from '../page/degraded.js';
import type { PageTeams } from '../types.js';
import type { InterleavedOrder } from './interleaved-order.js';
import type { InterleavedCandidates } from './run-interleaved.js';
import { Team } from './team.js';

/** The teams of an interleaved request. */
export interface Teams {
  readonly experiment: string;
  readonly arms: Rival['arms'];
  readonly order: InterleavedOrder;
}

/** What became of the experiments of a request. */
export interface MixedRun {
  readonly taken: readonly TakenArm[];
  /** Undefined if the order is that of one arm. */
  readonly teams: Teams | undefined;
  readonly degraded: readonly Degradation[];
}

/**
 * Says whether the arms of a request were interleaved. If they were not, the request got control and does not count.
 * @param ranked candidates of control alone, if the store could not be read
 */
export function mixedRun(
  taken: readonly TakenArm[],
  { experiment, arms }: Rival,
  ranked: RankedCandidates & Partial<Pick<InterleavedCandidates, 'interleaved' | 'problem'>>,
): MixedRun {
  const { interleaved: order, problem } = ranked;
  if (order !== undefined) return { taken, teams: { experiment, arms, order }, degraded: [] };
  return {
    taken: taken.map((one) =>
      one.experiment === experiment
        ? { ...one, arm: arms[0], excluded: 'not_interleaved', ...(problem === undefined ? {} : { problem }) }
        : one,
    ),
    teams: undefined,
    // Without a store there is no ranking at all, which is reported as such.
    degraded: problem === undefined ? [] : [{ cause: 'arm', value: experiment }],
  };
}

/** The name of the arm that placed a row; undefined if both did. */
export function teamName({ arms, order }: Teams, row: number): string | undefined {
  const team = order.teamOf(row);
  return team === Team.none ? undefined : arms[team - 1];
}

export function pageTeams({ experiment, arms, order }: Teams, page: readonly RankedRow[]): PageTeams {
  return { experiment, arms, teams: page.map(({ row }) => order.teamOf(row)) };
}
