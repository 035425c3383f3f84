import type { PipelineDefinition } from '../../../project/config/model/pipelines.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { IdHasher } from '../../../ground/core/id-hasher.js';
import { nameOf, type Settings } from '../../../project/settings/settings.js';

/**
 * Replaces ids in the records of a pipeline: those of `MILLRACE_HASH_IDS`, and those under `log: hash`.
 */
export function logHasherOf(
  { log }: Pick<PipelineDefinition, 'log'>,
  settings: { readonly hashIds: ReadonlySet<string>; readonly idSalt: string },
): IdHasher {
  return new IdHasher(settings.idSalt, new Set([...settings.hashIds, ...(log?.hash.keys() ?? [])]));
}

/** @throws MillraceError invalid_setting if a pipeline hashes ids in its records, and there is no salt */
export function checkLogSalt(
  pipelines: readonly Pick<PipelineDefinition, 'name' | 'log'>[],
  settings: Settings,
): void {
  if (settings.idSalt !== '') return;
  const pipeline = pipelines.find(({ log }) => log !== undefined && log.hash.size > 0);
  if (pipeline === undefined) return;
  throw new MillraceError(
    'invalid_setting',
    `the pipeline ${pipeline.name} has \`log: hash\`, but ${nameOf('idSalt', settings)} is not set; set it to a secret text, e.g. the output of \`openssl rand -hex 16\``,
  );
}
