import type { Usage } from '../../../ground/core/usage.js';
import type { LoggedRun, RankingLog } from './ranking-log.js';

/**
 * Records a request if its unit is in the share, after its answer was handed over, and then releases its frame.
 * @param log undefined if the pipeline is not logged, or the request is only explained
 * @param release called once, at once if the request is not recorded
 */
export function leaveRecord(
  log: RankingLog | undefined,
  run: LoggedRun,
  usage: Usage | undefined,
  release: () => void,
): void {
  if (log?.wants(run.request) !== true) {
    release();
    return;
  }
  usage?.begin();
  // Not in a later turn: the columns are still in the processor's cache. The promises of the answer run first.
  process.nextTick(() => {
    const end = (): void => {
      release();
      usage?.end();
    };
    const fail = (error: unknown): void => log.onError(error);
    let adding: Promise<void> | undefined;
    try {
      adding = log.add(run);
    } catch (error) {
      fail(error);
    }
    if (adding === undefined) end();
    else void adding.catch(fail).finally(end);
  });
}
