import type { FileNotice } from './model-file.js';
import type { ModelInputs } from './model-inputs.js';
import type { ModelBinding, ModelComponent, StepOutput, WarmNotices } from '../api/component.js';
import type { ProjectFile } from '../api/build-context.js';
import type { StepInput } from '../api/step-input.js';
import { Status } from '../api/status.js';
import type { TreeScorer } from '../api/tree-ensemble.js';

/** Enough runs for V8 to optimise the code of a plane program. */
const WARM_ROUNDS = 25;
const WARM_ROWS = 1024;
/** Maximum time to warm up a model, in milliseconds. */
const WARM_MS = 200;

/** Turns sums into predictions, in place. The arrays are by output, then row; only `rows` count. */
export type Transform = (outputs: readonly Float64Array[], rows: Int32Array) => void;

/**
 * Turns the sums of the classes into probabilities.
 * @param round makes a float32 of a number where the library computes in float32
 */
export function softmax(round: (value: number) => number = (value) => value): Transform {
  return (outputs, rows) => {
    for (const row of rows) {
      let most = -Infinity;
      for (const values of outputs) most = Math.max(most, values[row] ?? NaN);
      let sum = 0;
      for (const values of outputs) {
        const value = round(Math.exp((values[row] ?? NaN) - most));
        values[row] = value;
        sum += value;
      }
      for (const values of outputs) values[row] = round((values[row] ?? NaN) / sum);
    }
  };
}

/** A transform of each number by itself. */
export function eachNumber(change: (sum: number) => number): Transform {
  return (outputs, rows) => {
    for (const values of outputs) for (const row of rows) values[row] = change(values[row] ?? NaN);
  };
}

/**
 * A booster as a component. Its output is `score`, or `class_0`, `class_1` … for several outputs. An unknown feature
 * is NaN, whatever its status: the trees define how to handle it. The score is always present.
 */
export class TreeModel implements ModelComponent {
  readonly outputs: Readonly<Record<string, 'number'>>;
  readonly version: string;
  readonly bindings: readonly ModelBinding[];
  readonly #inputs: ModelInputs;
  readonly #scorer: Pick<TreeScorer, 'score'>;
  readonly #transform: Transform | undefined;
  readonly #names: readonly string[];
  readonly #values: Float64Array[] = [];
  readonly #file: ProjectFile;
  readonly #notices: readonly FileNotice[];

  /** @param notices warnings about the file */
  constructor(
    file: ProjectFile,
    inputs: ModelInputs,
    scorer: Pick<TreeScorer, 'score'>,
    outputs: number,
    transform: Transform | undefined,
    notices: readonly FileNotice[] = [],
  ) {
    this.version = file.version;
    this.#file = file;
    this.#notices = notices;
    this.#names = outputs === 1 ? ['score'] : Array.from({ length: outputs }, (_, i) => `class_${i}`);
    this.outputs = Object.fromEntries(this.#names.map((name) => [name, 'number']));
    this.#inputs = inputs;
    this.bindings = inputs.bindings;
    this.#scorer = scorer;
    this.#transform = transform;
  }

  /**
   * Scores artificial rows, so that V8 compiles and optimises the code before the first request. The work is spread
   * over many turns of the event loop, because a service that reloads continues to answer.
   */
  async warm({ warn }: WarmNotices): Promise<void> {
    for (const { message, help } of this.#notices) warn(`\`${this.#file.path}\` ${message}`, help);
    const rows = Int32Array.from({ length: WARM_ROWS }, (_, row) => row);
    const column = { values: new Float64Array(WARM_ROWS), stride: 1 as const };
    const columns = Array.from({ length: this.#inputs.count }, () => column);
    const outputs = this.#names.map(() => new Float64Array(WARM_ROWS));
    const begun = performance.now();
    let count = 1;
    for (let round = 0; round < WARM_ROUNDS && performance.now() - begun < WARM_MS; round++) {
      column.values.fill(round % 2 === 0 ? NaN : round);
      const started = performance.now();
      this.#scorer.score(rows.subarray(0, count), columns, outputs);
      this.#transform?.(outputs, rows.subarray(0, count));
      // A large model in the scalar form is too slow for that many rows.
      if (performance.now() - started < 2) count = Math.min(2 * count, WARM_ROWS);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  compute(input: StepInput, output: StepOutput): void {
    const { rows } = input;
    for (const [index, name] of this.#names.entries()) {
      const { values, status } = output.number(name);
      this.#values[index] = values;
      for (const row of rows) status[row] = Status.present;
    }
    this.#scorer.score(rows, this.#inputs.read(input), this.#values);
    this.#transform?.(this.#values, rows);
  }
}
