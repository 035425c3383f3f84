import { atOnce, OptionError, type Pieces } from 'millrace/api';
import { readDumpedModel } from './dumped-model.js';
import { readFile } from './file-content.js';
import type { Booster } from './model.js';
import type { Iterations, Predict } from './options.generated.js';
import { DUMP_OPTIONS, type DumpOptions } from './read-dump.js';
import { readSavedModel } from './saved-model.js';

/**
 * Reads what `save_model` writes as JSON or UBJSON (XGBoost 1.0 and later), or the JSON of `dump_model`.
 * @param given options for what a dump lacks
 * @param withCovers whether the trees get their covers, which scores do not need
 * @throws ModelFileError, and OptionError for a `given` option that is missing or not allowed
 */
export function readBooster(
  content: Buffer,
  predict: Predict,
  iterations: Iterations,
  given: DumpOptions = {},
  withCovers = false,
): Booster {
  return atOnce(boosterInPieces(content, predict, iterations, given, withCovers));
}

/** Does the same and yields between trees. */
export function* boosterInPieces(
  content: Buffer,
  predict: Predict,
  iterations: Iterations,
  given: DumpOptions = {},
  withCovers = false,
): Pieces<Booster> {
  const file = readFile(content);
  if (file.isDump) return yield* readDumpedModel(file.list, predict, iterations, given, withCovers);
  for (const option of DUMP_OPTIONS) {
    if (given[option] === undefined) continue;
    throw new OptionError(
      [option],
      `\`${option}\` is given, and the model file has its own`,
      `leave \`${option}\` out: only the JSON of dump_model lacks it`,
    );
  }
  return yield* readSavedModel(file.object, predict, iterations, withCovers);
}
