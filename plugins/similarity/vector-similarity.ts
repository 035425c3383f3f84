import {
  type FeatureComponent,
  type Input,
  type NumberColumn,
  Status,
  type StepInput,
  type StepOutput,
  type VectorColumn,
} from 'millrace/api';
import { statusOfPair } from './cell-pairs.js';

/**
 * Cosine, dot product and Euclidean distance of two vectors of one size. Sums are in double precision, in which no square of a float32 can
 * underflow. The norm of a vector is 0 only if all its elements are 0 or below 1e-162.
 */
export class VectorSimilarity implements FeatureComponent {
  readonly readsRowsOnly = true;
  readonly outputs = { cosine: 'number', dot: 'number', distance: 'number' } as const;
  readonly #a: Input<'vector'>;
  readonly #b: Input<'vector'>;

  constructor(a: Input<'vector'>, b: Input<'vector'>) {
    this.#a = a;
    this.#b = b;
  }

  compute(input: StepInput, output: StepOutput): void {
    const first = input.column(this.#a);
    const second = input.column(this.#b);
    // If only one of the two is of the request, it is `one`: its norm is computed once.
    const [one, other] = first.stride === 0 ? [first, second] : [second, first];
    const size = one.size;
    const dots = output.number('dot');
    const cosines = output.number('cosine');
    const distances = output.number('distance');
    const isOfRequest = one.stride === 0;
    const squareOfRequest = isOfRequest ? dot(one.values, 0, one.values, 0, size) : NaN;
    const normOfRequest = Math.sqrt(squareOfRequest);
    for (const row of input.rows) {
      const status = statusOfPair(first, second, row);
      if (status !== Status.present) {
        dots.status[row] = cosines.status[row] = distances.status[row] = status;
        continue;
      }
      const a = row * one.stride * size;
      const b = row * other.stride * size;
      const product = dot(one.values, a, other.values, b, size);
      const squareOfOne = isOfRequest ? squareOfRequest : dot(one.values, a, one.values, a, size);
      const squareOfOther = dot(other.values, b, other.values, b, size);
      const norms = (isOfRequest ? normOfRequest : Math.sqrt(squareOfOne)) * Math.sqrt(squareOfOther);
      write(dots, row, product);
      // |a - b|² = |a|² + |b|² - 2ab, unless the vectors are so close that the digits of the sum cancel.
      const squares = squareOfOne + squareOfOther;
      const square = squares - 2 * product;
      if (square > CANCELLING * squares && square < Infinity) {
        distances.values[row] = Math.sqrt(square);
        distances.status[row] = Status.present;
      } else write(distances, row, Math.sqrt(squareOfDifference(one.values, a, other.values, b, size)));
      if (norms === 0) {
        // A vector of zeros has no direction.
        cosines.status[row] = Status.absent;
      } else {
        // Rounding can give a little more than 1.
        write(cosines, row, Math.max(-1, Math.min(1, product / norms)));
      }
    }
  }
}

type Elements = VectorColumn['values'];

function write(column: NumberColumn, row: number, value: number): void {
  // An element beyond the range of float32 is Infinity here.
  if (!Number.isFinite(value)) column.status[row] = Status.failed;
  else {
    column.values[row] = value;
    column.status[row] = Status.present;
  }
}

/** Below this share of the sum of the squares, the difference has lost more than 4 of its 16 digits. */
const CANCELLING = 1e-4;

function squareOfDifference(a: Elements, startA: number, b: Elements, startB: number, size: number): number {
  let sum = 0;
  for (let i = 0; i < size; i++) {
    const difference = (a[startA + i] as number) - (b[startB + i] as number);
    sum += difference * difference;
  }
  return sum;
}

function dot(a: Elements, startA: number, b: Elements, startB: number, size: number): number {
  return a instanceof Float32Array && b instanceof Float32Array
    ? narrowDot(a, startA, b, startB, size)
    : wideDot(a, startA, b, startB, size);
}

/** Four independent sums, so that an addition does not wait for the one before. */
function narrowDot(a: Float32Array, startA: number, b: Float32Array, startB: number, size: number): number {
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  let i = 0;
  for (; i + 3 < size; i += 4) {
    const at = startA + i;
    const bt = startB + i;
    sum0 += (a[at] as number) * (b[bt] as number);
    sum1 += (a[at + 1] as number) * (b[bt + 1] as number);
    sum2 += (a[at + 2] as number) * (b[bt + 2] as number);
    sum3 += (a[at + 3] as number) * (b[bt + 3] as number);
  }
  for (; i < size; i++) sum0 += (a[startA + i] as number) * (b[startB + i] as number);
  return sum0 + sum1 + (sum2 + sum3);
}

/**
 * Computes the same sums in the same order if an array is float64. It is a separate function because one loop over
 * both kinds of arrays is twice as slow for each.
 */
function wideDot(a: Elements, startA: number, b: Elements, startB: number, size: number): number {
  const whole = size - (size % 4);
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  for (let i = 0; i < whole; i += 4) {
    sum0 += (a[startA + i] as number) * (b[startB + i] as number);
    sum1 += (a[startA + i + 1] as number) * (b[startB + i + 1] as number);
    sum2 += (a[startA + i + 2] as number) * (b[startB + i + 2] as number);
    sum3 += (a[startA + i + 3] as number) * (b[startB + i + 3] as number);
  }
  for (let i = whole; i < size; i++) sum0 += (a[startA + i] as number) * (b[startB + i] as number);
  return sum0 + sum1 + (sum2 + sum3);
}
