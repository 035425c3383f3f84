import { OptionError } from '../../runtime/api/plugin.js';
import type { OutputSpec } from '../../runtime/api/tensor-outputs.js';
import { isTensorType, type TensorSpec } from '../../runtime/api/tensor.js';
import type { LoadedModel } from './session-messages.js';

/** @throws OptionError for an input of a type that features cannot have */
export function inputSpecs({ inputs }: LoadedModel): TensorSpec[] {
  return inputs.map(({ name, type, shape }) => {
    if (type !== undefined && isTensorType(type)) return { name, type, shape };
    throw new OptionError(
      ['model'],
      `the model's input \`${name}\` is ${type ?? 'not a tensor'}, which cannot be given`,
      'export the model with inputs of float32, float64, an int type, bool or string',
    );
  });
}

export function outputSpecs({ outputs }: LoadedModel): OutputSpec[] {
  return outputs.map(({ name, type, shape }) => {
    if (type === undefined) return { name, shape: undefined, problem: NO_TENSOR };
    if (type === 'string' || !isTensorType(type))
      return { name, shape: undefined, problem: `of ${type}, not numbers` };
    return { name, shape };
  });
}

/** What converters make of class probabilities unless told otherwise. */
const NO_TENSOR =
  'a sequence of maps (ZipMap), not a tensor; convert the model with zipmap=False, as in convert_sklearn(model, options={"zipmap": False})';
