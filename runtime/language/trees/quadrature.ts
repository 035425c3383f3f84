/** Points and weights on [0, 1]. */
export interface Quadrature {
  readonly points: Float64Array;
  readonly weights: Float64Array;
}

const known = new Map<number, Quadrature>();

/**
 * The Gauss-Legendre quadrature of `count` points: its weighted sum is the integral from 0 to 1 of every polynomial of a
 * degree below 2 · count. The points are the roots of the Legendre polynomial, found by Newton's method (Abramowitz and
 * Stegun 25.4.29).
 */
export function gaussLegendre(count: number): Quadrature {
  const found = known.get(count) ?? compute(count);
  known.set(count, found);
  return found;
}

function compute(count: number): Quadrature {
  const [points, weights] = [new Float64Array(count), new Float64Array(count)];
  for (let i = 0; i < count; i++) {
    let x = Math.cos((Math.PI * (i + 0.75)) / (count + 0.5));
    let slope = NaN;
    for (let step = 0; step < 20; step++) {
      let [value, before] = [1, 0];
      for (let n = 1; n <= count; n++)
        [value, before] = [((2 * n - 1) * x * value - (n - 1) * before) / n, value];
      slope = (count * (x * value - before)) / (x * x - 1);
      x -= value / slope;
    }
    points[i] = (1 - x) / 2;
    weights[i] = 1 / ((1 - x * x) * slope * slope);
  }
  return { points, weights };
}
