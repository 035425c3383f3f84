import type { PipelineDefinition } from '../../config/project/model.js';
import { IdHasher } from '../../core/id-hasher.js';

/**
 * Replaces ids in the records of a pipeline: those of `MILLRACE_HASH_IDS`, and those under `log: hash`.
 */
export function logHasherOf(
  { log }: Pick<PipelineDefinition, 'log'>,
  settings: { readonly hashIds: ReadonlySet<string>; readonly idSalt: string },
): IdHasher {
  return new IdHasher(settings.idSalt, new Set([...settings.hashIds, ...(log?.hash.keys() ?? [])]));
}
