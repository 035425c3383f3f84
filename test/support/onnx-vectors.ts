import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { ModelComponent } from '../../runtime/ground/api/component.js';
import { plugin } from '../../plugins/onnx/index.js';
import { createComponent, NO_NOTICES } from './create-component.js';
import { readTensor } from './onnx-writer.js';
import { compute, FakeStep, projectFile } from './step-input.js';

/** The difference between a model's numbers and the expected numbers. */
export interface OnnxResult {
  readonly file: string;
  readonly numbers: number;
  readonly largest: number;
}

/** Finds every `model.onnx` below a folder that has `input_0.pb` and `output_0.pb` beside it. */
export function onnxVectors(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return files.filter((name) => basename(name) === 'model.onnx').map((name) => join(folder, name));
}

/** Runs a model with one input and one output, both [N, k], as a step of a pipeline. */
export async function runOnnxVector(file: string): Promise<OnnxResult> {
  const tensor = (name: string): ReturnType<typeof readTensor> =>
    readTensor(readFileSync(join(dirname(file), name)));
  const input = tensor('input_0.pb');
  const expected = tensor('output_0.pb');
  const [rows = 0, width = 1] = input.dims;
  const outputWidth = expected.dims[1] ?? 1;
  const step = new FakeStep(rows);
  const columns = Array.from({ length: width }, (_, column) =>
    step.number(Array.from({ length: rows }, (_cell, row) => input.values[row * width + column] ?? NaN)),
  );
  const outputs = Array.from({ length: outputWidth }, (_, i) => [`o${i}`, `Y[${i}]`] as const);
  const model = { ...projectFile(file, ''), content: readFileSync(file) };
  const options = { model, threads: 1, inputs: columns, outputs: Object.fromEntries(outputs) };
  const component = (await createComponent(plugin, options)) as ModelComponent;
  try {
    await component.warm?.(NO_NOTICES);
    const found = await compute(component, step);
    const differences = expected.values.map((value, i) =>
      Math.abs(Number(found[`o${i % outputWidth}`]?.[Math.floor(i / outputWidth)]) - value),
    );
    return { file, numbers: differences.length, largest: Math.max(...differences) };
  } finally {
    await component.close?.();
  }
}
