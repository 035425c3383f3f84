import { createRequire } from 'node:module';
import {
  bindModelInputs,
  definePlugin,
  inTurns,
  type JsonObject,
  modelFileError,
  type OptionError,
  TreeModel,
} from 'millrace/api';
import { boosterInPieces } from './booster.js';
import type { Options } from './options.generated.js';

/** Works for a booster and for a scikit-learn model that holds one. */
const RESAVE = 'getattr(model, "booster_", model).save_model("model.txt")';

export const plugin = definePlugin<Options>({
  name: 'lightgbm',
  kind: 'model',
  summary: 'Scores with a LightGBM model from a text or JSON file, in process.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  async create({ model, inputs, predict, iterations }, build) {
    const wrong = (error: unknown): OptionError => modelFileError(model, 'LightGBM', RESAVE, error);
    const booster = await inTurns(boosterInPieces(model.content, predict, iterations)).catch(
      (error: unknown) => {
        throw wrong(error);
      },
    );
    const bound = bindModelInputs(booster.columns, inputs, build);
    const scorer = await build.trees.compile(booster.ensemble).catch((error: unknown) => {
      throw wrong(error);
    });
    return new TreeModel(model, bound, scorer, booster, function* () {
      const { ensemble } = yield* boosterInPieces(model.content, predict, iterations, true);
      return build.trees.explain(ensemble);
    });
  },
});
