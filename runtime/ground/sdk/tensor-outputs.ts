import { didYouMean } from '../core/nearest.js';
import { OptionError, tryEach } from '../api/option-error.js';
import type { StepOutput } from '../api/component.js';
import { Status } from '../api/status.js';
import type { GatheredTensors, TensorBatch } from './tensor-inputs.js';
import { describeShape, type Tensor } from './tensor.js';

/** One output as the model describes it. */
export interface OutputSpec {
  readonly name: string;
  /** Undefined for anything but a tensor of numbers; then `problem` says what it is. */
  readonly shape: readonly (number | undefined)[] | undefined;
  readonly problem?: string;
  /** The labels of a classifier's probabilities, in the order of the columns. */
  readonly classes?: readonly string[];
}

interface BoundOutput {
  /** The name after `as:`. */
  readonly as: string;
  /** The model's name of the output; undefined for its only output. */
  readonly of: string | undefined;
  /** The index of the number in each row; undefined for the only number. */
  readonly index: number | undefined;
}

/**
 * Binds `outputs:`, from the step's names to the model's: `probabilities`, or `probabilities[1]` for the second number
 * of each row. Without the option, the only output is `score`. For a classifier with two classes, `score` is the
 * probability of the second class.
 * @param specs undefined if the model does not describe its outputs
 * @throws OptionError at the place of an output that the model lacks, or that is not one number for each row
 */
export function bindOutputs(
  specs: readonly OutputSpec[] | undefined,
  written: Readonly<Record<string, string>> | undefined,
): TensorOutputs {
  if (written === undefined) return new TensorOutputs([onlyOutput(specs)]);
  return new TensorOutputs(
    tryEach(
      Object.entries(written).map(
        ([as, text]) =>
          () =>
            boundOutput(as, text, specs, ['outputs', as]),
      ),
    ),
  );
}

function onlyOutput(specs: readonly OutputSpec[] | undefined): BoundOutput {
  const [only, ...others] = specs ?? [];
  if (specs === undefined || only === undefined) return { as: 'score', of: undefined, index: undefined };
  const classified = specs.filter(({ classes }) => classes !== undefined);
  const [probabilities] = classified;
  if (probabilities?.classes?.length === 2 && classified.length === 1)
    return boundOutput('score', `${probabilities.name}[1]`, specs, ['model']);
  if (others.length === 0) return boundOutput('score', only.name, specs, ['model']);
  throw new OptionError(
    [],
    `the model has ${specs.length} outputs, and \`outputs\` does not say which one to use`,
    `it has ${listOf(specs)}; write e.g. outputs: { score: ${exampleOf(probabilities ?? only)} }`,
  );
}

function boundOutput(
  as: string,
  text: string,
  specs: readonly OutputSpec[] | undefined,
  path: readonly string[],
): BoundOutput {
  const [, name = text, index] = /^(.+)\[(\d{1,6})\]$/.exec(text) ?? [];
  const bound = { as, of: name, index: index === undefined ? undefined : Number(index) };
  if (specs === undefined) return bound;
  const exact = specs.find((one) => one.name === text);
  const spec = exact ?? specs.find((one) => one.name === name);
  if (spec === undefined) {
    const help =
      didYouMean(
        name,
        specs.map((one) => one.name),
      ) ?? `it has ${listOf(specs)}`;
    throw new OptionError(path, `the model has no output \`${name}\``, help);
  }
  if (spec.shape === undefined)
    throw new OptionError(path, `the model's output \`${spec.name}\` is ${spec.problem ?? 'not a tensor'}`);
  const found = exact === undefined ? bound : { as, of: text, index: undefined };
  const sizes = spec.shape.slice(1);
  const width = sizes.includes(undefined) ? undefined : sizes.reduce<number>((all, n) => all * (n ?? 1), 1);
  const wanted = found.index ?? 0;
  if (width !== undefined && (found.index === undefined ? width !== 1 : wanted >= width)) {
    throw new OptionError(
      path,
      `the model's output \`${spec.name}\` ${describeShape(spec.shape)} has ${width} numbers for each candidate`,
      `write \`${spec.name}[0]\` … \`${spec.name}[${width - 1}]\` for one of them${classesOf(spec)}`,
    );
  }
  return found;
}

function listOf(specs: readonly OutputSpec[]): string {
  return specs
    .map(
      (spec) =>
        `\`${spec.name}\` ${spec.shape ? describeShape(spec.shape) + classesOf(spec) : (spec.problem ?? '')}`,
    )
    .join(', ');
}

const MOST_CLASSES = 10;

function classesOf({ classes }: OutputSpec): string {
  if (classes === undefined) return '';
  const shown = classes.slice(0, MOST_CLASSES).map((label, at) => `[${at}] ${JSON.stringify(label)}`);
  return ` (classes ${shown.join(', ')}${classes.length > MOST_CLASSES ? ', …' : ''})`;
}

function exampleOf({ name, classes }: OutputSpec): string {
  return JSON.stringify(classes === undefined ? name : `${name}[${classes.length - 1}]`);
}

/** The bound outputs of a model: the outputs of the component, and the conversion of answers to columns. */
export class TensorOutputs {
  readonly declared: Readonly<Record<string, 'number'>>;
  /** The model's names of outputs, without duplicates; undefined if the only output is meant. */
  readonly wanted: readonly string[] | undefined;
  readonly #outputs: readonly BoundOutput[];

  constructor(outputs: readonly BoundOutput[]) {
    this.#outputs = outputs;
    this.declared = Object.fromEntries(outputs.map(({ as }) => [as, 'number']));
    const names = outputs.flatMap(({ of }) => of ?? []);
    this.wanted = names.length === 0 ? undefined : [...new Set(names)];
  }

  /**
   * The columns to write to, with the cells that are known before the model runs. Get them before the first await.
   * Write to them only during the request: afterwards another request uses the frame.
   */
  columns(output: StepOutput, left: GatheredTensors['left']): OutputColumns {
    const columns = this.#outputs.map((bound) => ({ bound, column: output.number(bound.as) }));
    for (const { column } of columns)
      for (const { row, status } of left) {
        column.values[row] = NaN;
        column.status[row] = status;
      }
    return {
      write: (batch, answer) => {
        for (const { bound, column } of columns) {
          const { data, step, from } = numbersOf(bound, batch, answer);
          for (const [i, row] of batch.rows.entries()) {
            const value = Number(data[i * step + from]);
            const known = Number.isFinite(value);
            column.values[row] = known ? value : NaN;
            column.status[row] = known ? Status.present : Status.failed;
          }
        }
      },
    };
  }

  /** @throws Error for an answer that lacks a bound output, or a row of the batch */
  check(batch: TensorBatch, answer: ReadonlyMap<string, Tensor>): void {
    for (const bound of this.#outputs) numbersOf(bound, batch, answer);
  }
}

export interface OutputColumns {
  /**
   * Writes one output; a number that is not finite becomes a failed cell. @throws Error for an answer that does not
   * fit
   */
  write(batch: TensorBatch, answer: ReadonlyMap<string, Tensor>): void;
}

function numbersOf(
  { of, index }: BoundOutput,
  { size }: TensorBatch,
  answer: ReadonlyMap<string, Tensor>,
): { data: Tensor['data']; step: number; from: number } {
  const [only] = answer;
  if (of === undefined && answer.size !== 1)
    throw new Error(`the model returned ${answer.size} outputs; name one in \`outputs\``);
  const [name, tensor] = of === undefined ? (only ?? ['', undefined]) : [of, answer.get(of)];
  if (tensor === undefined) throw new Error(`the model returned no output ${name}`);
  const { shape, data } = tensor;
  const step = shape.slice(1).reduce((all, one) => all * one, 1);
  const described = `the model's output ${name} is ${tensor.type} ${describeShape(shape)}`;
  if (tensor.type === 'string') throw new Error(`${described}, not numbers`);
  if (shape[0] !== size || data.length !== size * step)
    throw new Error(`${described} with ${data.length} numbers for ${size} rows`);
  if (index === undefined && step !== 1)
    throw new Error(`${described}; name one number of a row, e.g. ${name}[0]`);
  if (index !== undefined && index >= step) throw new Error(`${described} and has no ${name}[${index}]`);
  return { data, step, from: index ?? 0 };
}
