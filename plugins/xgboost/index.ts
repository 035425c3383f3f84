import { createRequire } from 'node:module';
import { bindModelInputs, type WrittenInputs } from '../../runtime/api/model-inputs.js';
import { inTurns } from '../../runtime/api/pieces.js';
import { definePlugin, OptionError, type ProjectFile } from '../../runtime/api/plugin.js';
import { TreeModel } from '../../runtime/api/tree-model.js';
import type { JsonObject } from '../../runtime/api/types.js';
import { boosterInPieces, type Iterations, type Prediction } from './booster.js';

interface XgBoostOptions {
  readonly model: ProjectFile;
  readonly inputs?: WrittenInputs;
  readonly predict: Prediction;
  readonly iterations: Iterations;
}

export const plugin = definePlugin<XgBoostOptions>({
  name: 'xgboost',
  kind: 'model',
  summary: 'An XGBoost model, from its JSON or UBJSON file, scored in process.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  async create({ model, inputs, predict, iterations }, build) {
    const wrong = (error: unknown): OptionError => {
      const reason = error instanceof Error ? error.message : String(error);
      return new OptionError(['model'], `\`${model.path}\` is no XGBoost model that can be used: ${reason}`);
    };
    const booster = await inTurns(boosterInPieces(model.content, predict, iterations)).catch(
      (error: unknown) => {
        throw wrong(error);
      },
    );
    const bound = bindModelInputs(booster.columns, inputs, build);
    const { scored, outputs, transform } = booster;
    const scorer =
      'linear' in scored
        ? scored.linear
        : await build.trees.compile(scored.ensemble).catch((error: unknown) => {
            throw wrong(error);
          });
    return new TreeModel(model, bound, scorer, outputs, transform);
  },
});
