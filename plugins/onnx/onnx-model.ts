import {
  isTensorType,
  type ModelBinding,
  type ModelComponent,
  type ProjectFile,
  type StepInput,
  type StepOutput,
  type Tensor,
  type TensorBatch,
  type TensorInputs,
  type TensorOutputs,
} from 'millrace/api';
import type { OnnxSession } from './session.js';
import type { ClassScores } from './zip-map.js';

/** An ONNX model as a component. Inputs are copied out of the frame, then the model runs on its own thread. */
export class OnnxModel implements ModelComponent {
  readonly readsRowsOnly = true;
  readonly outputs: Readonly<Record<string, 'number'>>;
  readonly version: string;
  readonly bindings: readonly ModelBinding[];
  readonly #session: OnnxSession;
  readonly #inputs: TensorInputs;
  readonly #outputs: TensorOutputs;
  readonly #wanted: readonly string[];

  readonly #maps: ReadonlyMap<string, ClassScores>;

  /** @param maps outputs that are requested by the name of their tensor */
  constructor(
    file: ProjectFile,
    session: OnnxSession,
    inputs: TensorInputs,
    outputs: TensorOutputs,
    maps: ReadonlyMap<string, ClassScores>,
  ) {
    this.version = file.version;
    this.outputs = outputs.declared;
    this.#session = session;
    this.#inputs = inputs;
    this.bindings = inputs.bindings;
    this.#outputs = outputs;
    this.#wanted = outputs.wanted ?? [];
    this.#maps = maps;
  }

  /** Runs the model once on zeros, to find shapes that the file does not state. */
  async warm(): Promise<void> {
    const batch = this.#inputs.blank();
    this.#outputs.check(batch, await this.#run(batch, new AbortController().signal));
  }

  async compute(input: StepInput, output: StepOutput): Promise<void> {
    const { signal } = input;
    const { batches, left } = this.#inputs.gather(input);
    const columns = this.#outputs.columns(output, left);
    for (const batch of batches) {
      const answer = await this.#run(batch, signal);
      // After an await, another request may use the frame.
      if (signal.aborted) return;
      columns.write(batch, answer);
    }
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  async #run({ tensors }: TensorBatch, signal: AbortSignal): Promise<Map<string, Tensor>> {
    const inputs = Array.from(tensors, ([name, tensor]) => ({ name, ...tensor }));
    const tensorOf = (name: string): string => this.#maps.get(name)?.tensor ?? name;
    const asked = new Set(this.#wanted.map(tensorOf));
    const answered = await this.#session.run(inputs, [...asked], signal);
    const byName = new Map(answered.map((tensor) => [tensor.name, tensor]));
    return new Map(
      this.#wanted.flatMap((name) => {
        const tensor = byName.get(tensorOf(name));
        if (tensor === undefined) return [];
        const { type, shape, data } = tensor;
        if (!isTensorType(type)) throw new Error(`the model's output ${name} is ${type}, not numbers`);
        return [[name, { type, shape, data }]];
      }),
    );
  }
}
