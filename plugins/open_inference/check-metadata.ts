import { describeShape, type TensorInputs, type TensorOutputs } from 'millrace/api';
import { datatypeOf, isNumeric } from './datatypes.js';
import type { MetadataTensor, ModelMetadata } from './protocol.js';

/**
 * Compares what the step sends and reads with the server's description of the model. If a server lists no inputs, or
 * no outputs, they are not checked.
 * @throws Error with the first difference
 */
export function checkMetadata(
  metadata: ModelMetadata,
  { tensors }: Pick<TensorInputs, 'tensors'>,
  { wanted }: Pick<TensorOutputs, 'wanted'>,
): void {
  const { inputs, outputs } = metadata;
  const names = inputs.map(({ name }) => name);
  for (const tensor of inputs.length === 0 ? [] : tensors) {
    const model = inputs.find(({ name }) => name === tensor.name);
    if (model === undefined)
      throw new Error(`the model has no input ${tensor.name}; it has ${names.join(', ')}`);
    const datatype = datatypeOf(tensor.type);
    if (model.datatype !== datatype) {
      throw new Error(
        `the model's input ${model.name} is ${model.datatype}, and the step sends ${datatype}; write datatype: ${model.datatype}`,
      );
    }
    const sent = [tensor.perRequest ? 1 : undefined, ...tensor.rowShape];
    if (!isSent(sent, model.shape)) {
      throw new Error(
        `the model's input ${model.name} is ${describeShape(model.shape)}, and the step sends ${describeShape(sent)}; set the shape of a row, e.g. shape: [${model.shape.slice(1).join(', ')}]`,
      );
    }
  }
  const unbound = names.filter((name) => !tensors.some((tensor) => tensor.name === name));
  if (unbound.length > 0) throw new Error(`\`inputs\` lacks the model's ${unbound.join(', ')}`);
  for (const name of outputs.length === 0 ? [] : (wanted ?? [])) checkOutput(name, outputs);
}

/** An open size fits any size on the other side, so the model must not fix the number of rows. */
function isSent(sent: readonly (number | undefined)[], model: readonly (number | undefined)[]): boolean {
  return sent.length === model.length && sent.every((size, i) => model[i] === undefined || model[i] === size);
}

function checkOutput(name: string, outputs: readonly MetadataTensor[]): void {
  const output = outputs.find((one) => one.name === name);
  if (output === undefined)
    throw new Error(`the model has no output ${name}; it has ${outputs.map((one) => one.name).join(', ')}`);
  if (!isNumeric(output.datatype))
    throw new Error(`the model's output ${name} is ${output.datatype}, not numbers`);
}
