import { createRequire } from 'node:module';
import {
  bindModelInputs,
  definePlugin,
  inTurns,
  type JsonObject,
  modelFileError,
  OptionError,
  TreeModel,
} from 'millrace/api';
import { boosterInPieces } from './booster.js';
import type { Options } from './options.generated.js';

/** Works for a booster and for a scikit-learn model: both have this method. */
const RESAVE = 'model.save_model("model.json")';

export const plugin = definePlugin<Options>({
  name: 'xgboost',
  kind: 'model',
  summary: 'Scores with an XGBoost model from a JSON or UBJSON file, in process.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  async create(options, build) {
    const { model, inputs, predict, iterations } = options;
    const wrong = (error: unknown): OptionError => modelFileError(model, 'XGBoost', RESAVE, error);
    const booster = await inTurns(boosterInPieces(model.content, predict, iterations, options)).catch(
      (error: unknown) => {
        throw wrong(error);
      },
    );
    if (booster.isDump && !booster.columns.unnamed && Array.isArray(inputs)) {
      throw new OptionError(
        ['inputs'],
        '`inputs` is a list, and a dump of XGBoost does not have the order of the columns',
        'give expressions by name, e.g. inputs: { price: product.price }',
      );
    }
    const bound = bindModelInputs(booster.columns, inputs, build);
    const { scored } = booster;
    const scorer =
      'linear' in scored
        ? scored.linear
        : await build.trees.compile(scored.ensemble).catch((error: unknown) => {
            throw wrong(error);
          });
    return new TreeModel(model, bound, scorer, booster, function* () {
      if ('linear' in scored) return scored.linear;
      const read = yield* boosterInPieces(model.content, predict, iterations, options, true);
      return 'linear' in read.scored ? read.scored.linear : build.trees.explain(read.scored.ensemble);
    });
  },
});
