import { definePlugin, type Plugin } from '../api/plugin.js';
import type { ProjectFile } from '../api/build-context.js';
import type { FeatureColumn, TreeEnsemble } from '../api/tree-ensemble.js';
import type { JsonObject } from '../api/types.js';
import { modelFileError, type FileNotice } from './model-file.js';
import { bindModelInputs, type WrittenInputs } from './model-inputs.js';
import { TreeModel, type Transform } from './tree-model.js';

/** What all models have. */
interface ReadModelBase {
  /** The names of the columns, in the model's order. */
  readonly columns: readonly string[];
  /** Whether the names are only positions. The option `inputs` must then give all columns. */
  readonly unnamed?: boolean;
  /** By column: the code that each category had in training. */
  readonly categories?: ReadonlyMap<number, ReadonlyMap<string | number, number>>;
  /** Warnings about the file. They are shown at the step. */
  readonly notices?: readonly FileNotice[];
}

/** A model of any kind: Millrace gives it columns, and it writes scores. */
export interface ScoredModel extends ReadModelBase {
  /** The number of outputs: 1, or one for each class. By default 1. */
  readonly outputs?: number;
  /**
   * Writes the score of each of `rows` to `outputs[output][row]`. A missing value is NaN. Read `columns[c].values[row *
   * columns[c].stride]`. A score that is not finite is absent.
   */
  score(
    rows: Int32Array,
    columns: readonly (FeatureColumn | undefined)[],
    outputs: readonly Float64Array[],
  ): void;
}

/** A tree ensemble. Millrace compiles it to its fastest form. */
export interface TreesModel extends ReadModelBase {
  readonly ensemble: TreeEnsemble;
  /** Turns the sums into predictions. */
  readonly transform?: Transform;
}

export interface ModelFormat {
  /** The name that `use:` gives. */
  readonly name: string;
  /** One line, for the docs and `millrace plugins`. */
  readonly summary: string;
  /** How the format is called in messages, e.g. `LightGBM`. */
  readonly library: string;
  /** How to write such a file, in Python, for messages about other files. */
  readonly resave: string;
  /**
   * Reads a file. It must refuse a file that is cut short or changed, rather than score wrongly.
   * @throws ModelFileError
   */
  read(file: ProjectFile): ScoredModel | TreesModel | Promise<ScoredModel | TreesModel>;
}

/** The options of every model format. */
const OPTIONS: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  additionalProperties: false,
  required: ['model'],
  properties: {
    model: { description: 'The path in the project of the model file.', millrace: 'file' },
    inputs: {
      description:
        "Expressions for the columns of the model: a mapping from the column name in the model, or a list of all columns in the model's order. A column that is not listed is bound by its name.",
      oneOf: [
        { type: 'object', additionalProperties: { millrace: 'any' } },
        { type: 'array', minItems: 1, items: { millrace: 'any' } },
      ],
    },
  },
};

interface Options {
  readonly model: ProjectFile;
  readonly inputs?: WrittenInputs;
}

/**
 * Makes a model plugin from a function that reads files. The plugin has the options `model` and `inputs`, the output
 * `score`, or `class_0`, `class_1` … for several outputs, and the version of the file.
 */
export function defineModelFormat(format: ModelFormat): Plugin {
  return definePlugin<Options>({
    name: format.name,
    kind: 'model',
    summary: format.summary,
    options: OPTIONS,
    async create({ model, inputs }, build) {
      const wrong = (error: unknown): never => {
        throw modelFileError(model, format.library, format.resave, error);
      };
      const read = await readModel(format, model).catch(wrong);
      const { columns: names, unnamed = false, categories, notices } = read;
      const columns = { names, unnamed, ...(categories === undefined ? {} : { categories }) };
      const bound = bindModelInputs(columns, inputs, build);
      if ('score' in read) return new TreeModel(model, bound, read, { outputs: read.outputs ?? 1, notices });
      const { ensemble, transform } = read;
      const scorer = await build.trees.compile(ensemble).catch(wrong);
      const summed = { outputs: ensemble.outputs, transform, notices };
      return new TreeModel(model, bound, scorer, summed, () => build.trees.explain(ensemble));
    },
  });
}

async function readModel(format: ModelFormat, file: ProjectFile): Promise<ScoredModel | TreesModel> {
  return format.read(file);
}
