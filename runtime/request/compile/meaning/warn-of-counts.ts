import type { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import type { PipelineDefinition } from '../../../project/config/model/pipelines.js';

/** What a filter did in requests that were run, for example in tests. */
export interface FilterCount {
  /** The number of the step, from 1. */
  readonly step: number;
  /** How many requests it had candidates in. */
  readonly requests: number;
  /** In how many of them it removed them all. */
  readonly emptied: number;
}

/**
 * Warns of filters that removed every candidate of every request.
 * @param what the requests, e.g. `tests`
 */
export function warnOfCounts(
  { components }: Pick<PipelineDefinition, 'components'>,
  counts: readonly FilterCount[],
  what: string,
  diagnostics: Diagnostics,
): void {
  for (const { step, requests, emptied } of counts) {
    const definition = components[step - 1];
    if (definition === undefined || requests === 0 || emptied < requests) continue;
    diagnostics.warning(
      'removes_all',
      definition.use.at,
      `\`${definition.use.value}\` removes every candidate in all ${requests} ${what} that reach it`,
      'correct the condition, or add a candidate to the tests that it keeps',
    );
  }
}
