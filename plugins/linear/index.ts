import { createRequire } from 'node:module';
import {
  type BuildContext,
  definePlugin,
  type Input,
  type JsonObject,
  OptionError,
  type ProjectFile,
  tryEach,
} from 'millrace/api';
import { LinearModel, type Term } from './linear-model.js';
import { MODEL_OPTIONS, readModelFile } from './model-file.js';
import type { Missing, Options, WeightsEntry } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'linear',
  kind: 'model',
  summary: 'A linear model: the weighted sum of its inputs.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create(options, build) {
    const { weights, model } = options;
    if (weights === undefined && model === undefined) {
      throw new OptionError([], '`weights` is missing', 'give `weights`, or `model` with the path of a file');
    }
    if (model !== undefined) return fromFile(options, model, build);
    const terms = (weights ?? []).map(({ input, value }) => term(input, value, options.missing ?? 'absent'));
    if (terms.every(({ weight }) => weight === 0)) {
      const score = `the score is ${options.bias ?? 0} for every candidate`;
      build.warn(['weights'], `all weights are 0, so ${score}`, 'give an input a weight that is not 0');
    }
    return new LinearModel(terms, options.bias ?? 0);
  },
});

/** Reads the model from a file. The file is the whole model, so other options would contradict it. */
function fromFile(options: Options, file: ProjectFile, build: BuildContext): LinearModel {
  for (const option of MODEL_OPTIONS) {
    if (options[option] === undefined) continue;
    throw new OptionError(
      [option],
      `\`${option}\` and \`model\` are both given`,
      `\`${file.path}\` has its own ${option}`,
      'key',
    );
  }
  const model = readModelFile(file, ['model']);
  const termOf = (name: string, weight: WeightsEntry): Term => {
    const input = build.need(name, ['model']);
    if (isNumeric(input)) return term(input, weight, model.missing);
    throw new OptionError(['model'], `\`${file.path}\` gives a weight to \`${name}\`, which is not a number`);
  };
  const terms = tryEach(
    [...model.weights].map(
      ([name, weight]) =>
        () =>
          termOf(name, weight),
    ),
  );
  return new LinearModel(terms, model.bias, file.version);
}

function isNumeric(input: Input): input is Input<'number'> {
  return input.kind === 'number';
}

function term(input: Input<'number'>, written: WeightsEntry, missing: Missing): Term {
  if (typeof written === 'number') return { input, weight: written, missing };
  return { input, weight: written.weight, missing: written.missing ?? missing };
}
