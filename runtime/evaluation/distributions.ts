/**
 * The share of the standard normal distribution below a value; the error is below 1.5e-7 of the whole.
 * Source: Abramowitz and Stegun, "Handbook of mathematical functions", 1964, formula 7.1.26.
 */
export function normalShare(value: number): number {
  const x = Math.abs(value) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series =
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const upper = (series * Math.exp(-x * x)) / 2;
  return value < 0 ? upper : 1 - upper;
}

/**
 * The value below which the share `tail` of Student's t distribution lies.
 * Source: Hill, "Algorithm 396: Student's t-quantiles", CACM 1970, which is exact for 1 and 2 degrees of freedom.
 * @param tail above 0, at most 0.5
 * @param degrees degrees of freedom, 1 or more
 * @returns a number that is not positive; the relative error is below 1e-4 from 3 degrees of freedom on
 */
export function studentQuantile(tail: number, degrees: number): number {
  const both = 2 * tail;
  if (degrees === 1) return -1 / Math.tan((both * Math.PI) / 2);
  if (degrees === 2) return -Math.sqrt(2 / (both * (2 - both)) - 2);
  const a = 1 / (degrees - 0.5);
  const b = 48 / (a * a);
  let c = (((20700 * a) / b - 98) * a - 16) * a + 96.36;
  const d = ((94.5 / (b + c) - 3) / b + 1) * Math.sqrt((a * Math.PI) / 2) * degrees;
  const x = d * both;
  let y = x ** (2 / degrees);
  if (y > 0.05 + a) {
    const z = normalQuantile(tail);
    y = z * z;
    if (degrees < 5) c += 0.3 * (degrees - 4.5) * (z + 0.6);
    c += (((0.05 * d * z - 5) * z - 7) * z - 2) * z + b;
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * z;
    y = Math.expm1(a * y * y);
  } else {
    y =
      ((1 / (((degrees + 6) / (degrees * y) - 0.089 * d - 0.822) * (degrees + 2) * 3) + 0.5 / (degrees + 4)) *
        y -
        1) *
        ((degrees + 1) / (degrees + 2)) +
      1 / y;
  }
  return -Math.sqrt(degrees * y);
}

/** The value below which the share `tail` of the standard normal distribution lies, by halving an interval. */
function normalQuantile(tail: number): number {
  let [low, high] = [-40, 0];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (normalShare(middle) < tail) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
