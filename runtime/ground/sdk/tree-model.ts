import type { FileNotice } from './model-file.js';
import type { ModelInputs } from './model-inputs.js';
import type { ModelBinding, ModelComponent, StepOutput } from '../api/component.js';
import type { WarmNotices } from '../api/component-life.js';
import type { ProjectFile } from '../api/build-context.js';
import type { StepInput } from '../api/step-input.js';
import { Status } from '../api/status.js';
import type { SumExplainer, TreeScorer } from '../api/tree-ensemble.js';
import type { Account } from '../api/contributions.js';
import type { Pieces } from '../core/pieces.js';

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

/** Makes what divides the sums. It may read the file again, since only explanations need covers. */
export type Explain = () => SumExplainer | Pieces<SumExplainer>;

/** What is known of a model besides its sums. */
export interface SummedModel {
  readonly outputs: number;
  readonly transform?: Transform | undefined;
  /** Warnings about the file. */
  readonly notices?: readonly FileNotice[] | undefined;
}

/**
 * A booster as a component. Its output is `score`, or `class_0`, `class_1` … for several outputs. An unknown feature
 * is NaN, whatever its status: the trees define how to handle it. The score is always present.
 */
export class TreeModel implements ModelComponent {
  readonly readsRowsOnly = true;
  readonly outputs: Readonly<Record<string, 'number'>>;
  readonly version: string;
  readonly bindings: readonly ModelBinding[];
  readonly least: number;
  readonly #inputs: ModelInputs;
  readonly #scorer: Pick<TreeScorer, 'score'>;
  readonly #transform: Transform | undefined;
  readonly #names: readonly string[];
  readonly #values: Float64Array[] = [];
  readonly #file: ProjectFile;
  readonly #notices: readonly FileNotice[];
  readonly #explain: Explain | undefined;
  /** Made by the first explanation. */
  #explainer: SumExplainer | undefined;
  /** Makes it. What a request began before its deadline, the next one continues. */
  #making: Pieces<SumExplainer> | undefined;

  /** @param explain if the sums can be divided */
  constructor(
    file: ProjectFile,
    inputs: ModelInputs,
    scorer: Pick<TreeScorer, 'score'>,
    { outputs, transform, notices = [] }: SummedModel,
    explain?: Explain,
  ) {
    this.#explain = explain;
    this.version = file.version;
    this.#file = file;
    this.#notices = notices;
    this.#names = outputs === 1 ? ['score'] : Array.from({ length: outputs }, (_, i) => `class_${i}`);
    this.outputs = Object.fromEntries(this.#names.map((name) => [name, 'number']));
    this.#inputs = inputs;
    this.bindings = inputs.bindings;
    this.#scorer = scorer;
    this.#transform = transform;
    // Transforms increase with the sums.
    const lowest = this.#names.map(() => Float64Array.of(-Number.MAX_VALUE));
    transform?.(lowest, Int32Array.of(0));
    this.least = Math.min(...lowest.map(([value = NaN]) => value));
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
    for (let index = 0; index < this.#names.length; index++) {
      const { values, status } = output.number(this.#names[index] ?? '');
      this.#values[index] = values;
      for (let i = 0; i < rows.length; i++) status[rows[i] as number] = Status.present;
    }
    this.#scorer.score(rows, this.#inputs.read(input), this.#values);
    this.#transform?.(this.#values, rows);
  }

  *contributions(input: StepInput, output: string, reference?: number): Pieces<readonly Account[] | string> {
    if (this.#explain === undefined) return 'its file says how to score, but not why';
    const explainer = yield* this.#explained(this.#explain);
    if (reference === undefined && typeof explainer.contributions === 'string')
      return explainer.contributions;
    const index = this.#names.indexOf(output);
    const columns = this.#inputs.read(input);
    const rowOf = (row: number): Float64Array =>
      Float64Array.from(columns, (column) => column?.values[row * column.stride] ?? NaN);
    const rows = Array.from(input.rows, rowOf);
    const other = reference === undefined ? undefined : rowOf(reference);
    const sums = this.#transform === undefined ? undefined : this.#sumsOf(index, input, reference);
    const parts = rows.map(() => new Float64Array(this.#inputs.count));
    let base = 0;
    if (other !== undefined)
      for (const [i, row] of rows.entries()) {
        yield* explainer.difference(row, other, index, parts[i] ?? row);
      }
    else if (typeof explainer.contributions !== 'string')
      base = yield* explainer.contributions(rows, index, parts);
    const { precision, method } = explainer;
    return parts.map((amounts, i) => ({
      base,
      precision,
      ...(method === undefined ? {} : { method }),
      terms: this.bindings.flatMap(({ column, input: read }, feature) => {
        const amount = amounts[feature] ?? 0;
        return amount === 0 ? [] : [{ input: read, column, amount }];
      }),
      ...(sums === undefined ? {} : { sum: sums[i] ?? NaN }),
    }));
  }

  *#explained(explain: Explain): Pieces<SumExplainer> {
    while (this.#explainer === undefined) {
      try {
        if (this.#making === undefined) {
          const made = explain();
          if (!('next' in made)) return (this.#explainer = made);
          this.#making = made;
        }
        const { done, value } = this.#making.next();
        if (done === true) [this.#explainer, this.#making] = [value, undefined];
        else yield value;
      } catch (error) {
        this.#making = undefined;
        throw error;
      }
    }
    return this.#explainer;
  }

  /** The sums of an output before the transform, or their differences to that of another row. */
  #sumsOf(index: number, input: StepInput, reference: number | undefined): number[] {
    const outputs = this.#names.map(() => new Float64Array(input.count));
    const rows = reference === undefined ? input.rows : Int32Array.of(...input.rows, reference);
    this.#scorer.score(rows, this.#inputs.read(input), outputs);
    const sums = outputs[index] ?? outputs[0] ?? new Float64Array(0);
    const from = reference === undefined ? 0 : (sums[reference] ?? NaN);
    return Array.from(input.rows, (row) => (sums[row] ?? NaN) - from);
  }
}
