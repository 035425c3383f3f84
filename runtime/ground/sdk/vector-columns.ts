import { OptionError } from '../api/option-error.js';
import type { StepInput } from '../api/step-input.js';
import type { Input } from '../api/input.js';
import type { FeatureColumn } from '../api/tree-ensemble.js';

/** What one column of a model reads: an expression, or one element of a vector. */
export interface ColumnSource {
  readonly input: Input;
  /** The element, counted from 0; undefined for an expression that is no vector. */
  readonly element?: number;
}

/** A vector stands for as many columns as it has elements. */
export function spread(input: Input): readonly ColumnSource[] {
  const { kind, size = 0, text } = input;
  if (kind !== 'vector') return [{ input }];
  return Array.from({ length: size }, (_, element) => ({
    input: { ...input, text: `${text}[${element}]` },
    element,
  }));
}

/**
 * The columns that the entries of `inputs:` give, by the name of the column. A vector under `emb` gives `emb__0`,
 * `emb__1` …
 * @param names the columns of the model
 * @throws OptionError if the model has another number of such columns
 */
export function spreadNamed(
  name: string,
  input: Input,
  names: readonly string[],
): readonly [string, ColumnSource][] {
  if (input.kind !== 'vector') return [[name, { input }]];
  const sources = spread(input);
  const wanted = names.filter(
    (one) => one.startsWith(`${name}__`) && /^\d+$/.test(one.slice(name.length + 2)),
  );
  if (wanted.length !== sources.length) {
    throw new OptionError(
      ['inputs', name],
      `\`${input.text}\` is a vector(${sources.length}), and the model has ${wanted.length} columns \`${name}__0\`, \`${name}__1\` …`,
      names.includes(name) ? `the column \`${name}\` is one number: write \`${input.text}[0]\`` : undefined,
    );
  }
  return sources.map((source, element) => [`${name}__${element}`, source]);
}

/** Reads one element of each vector as a column. The elements of an unknown vector are NaN. */
export function elementReader(input: Input<'vector'>, element: number): (step: StepInput) => FeatureColumn {
  let picked = new Float64Array(0);
  return (step) => {
    const { values, size, stride } = step.column(input);
    const count = stride === 0 ? 1 : step.count;
    if (picked.length < count) picked = new Float64Array(Math.max(count, 2 * picked.length));
    for (let row = 0; row < count; row++) picked[row] = values[row * size + element] as number;
    return { values: picked, stride };
  };
}
