import { isTensorType, OptionError, type OutputSpec, type TensorSpec } from 'millrace/api';
import type { LoadedModel, LoadedValue } from './session-messages.js';
import type { ClassScores } from './zip-map.js';

/** @throws OptionError for an input whose type features cannot have */
export function inputSpecs({ inputs }: LoadedModel): TensorSpec[] {
  return inputs.map(({ name, type, shape }) => {
    if (type !== undefined && isTensorType(type)) return { name, type, shape };
    throw new OptionError(
      ['model'],
      `the model's input \`${name}\` is ${type ?? 'not a tensor'}, which is not supported`,
      'export the model with inputs of float32, float64, an int type, bool or string',
    );
  });
}

/** @param maps outputs of the file that the session returns as tensors */
export function outputSpecs({ outputs }: LoadedModel, maps: ReadonlyMap<string, ClassScores>): OutputSpec[] {
  const tensors = new Set(Array.from(maps.values(), ({ tensor }) => tensor));
  const mapped = Array.from(maps, ([name, { tensor, classes }]): OutputSpec => {
    const found = outputs.find((output) => output.name === tensor);
    return { name, shape: found?.shape ?? [undefined, classes.length], classes };
  });
  return [...outputs.filter(({ name }) => !tensors.has(name)).map(outputSpec), ...mapped];
}

function outputSpec({ name, type, shape }: LoadedValue): OutputSpec {
  if (type === undefined) return { name, shape: undefined, problem: 'a sequence or a map, not a tensor' };
  if (type === 'string' || !isTensorType(type))
    return { name, shape: undefined, problem: `of ${type}, not numbers` };
  return { name, shape };
}
