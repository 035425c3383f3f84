/** The coefficients of Lanczos for g = 7. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/**
 * The natural logarithm of the gamma function; the relative error of the function is below 1e-13.
 * Source: Lanczos, "A precision approximation of the gamma function", SIAM Journal on Numerical Analysis 1964.
 * @param value 0.5 or more
 */
export function logGamma(value: number): number {
  const x = value - 1;
  const [first = 0, ...others] = LANCZOS;
  const sum = others.reduce((all, one, at) => all + one / (x + at + 1), first);
  const t = x + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (x + 0.5) * Math.log(t) - t + Math.log(sum);
}

/** Terms of a series or a fraction that converges long before. */
const MOST_TERMS = 10_000;

/**
 * The share of the gamma distribution above a value: the regularised upper incomplete gamma function Q(shape, value).
 * Source: a power series below shape + 1, else Legendre's continued fraction by Lentz's method; both as in Press,
 * Teukolsky, Vetterling and Flannery, "Numerical recipes", 3rd edition, 2007, section 6.2.
 * @param shape 0.5 or more
 * @param value 0 or more
 */
function gammaShareAbove(shape: number, value: number): number {
  if (value <= 0) return 1;
  const scale = Math.exp(shape * Math.log(value) - value - logGamma(shape));
  if (value < shape + 1) {
    let term = 1 / shape;
    let sum = term;
    for (let k = 1; k < MOST_TERMS && term > sum * Number.EPSILON; k++) {
      term *= value / (shape + k);
      sum += term;
    }
    return 1 - sum * scale;
  }
  let b = value + 1 - shape;
  let c = Infinity;
  let d = 1 / b;
  let fraction = d;
  for (let k = 1; k < MOST_TERMS; k++) {
    const a = -k * (k - shape);
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    fraction *= c * d;
    if (Math.abs(c * d - 1) < Number.EPSILON) break;
  }
  return fraction * scale;
}

/** The share of the standard normal distribution below a value, with 12 correct digits also in the tails. */
export function normalShare(value: number): number {
  const tail = gammaShareAbove(0.5, (value * value) / 2) / 2;
  return value < 0 ? tail : 1 - tail;
}

/**
 * The share of the chi-squared distribution above a value.
 * @param degrees degrees of freedom, 1 or more
 */
export function chiSquaredShareAbove(value: number, degrees: number): number {
  return gammaShareAbove(degrees / 2, value / 2);
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

/**
 * The value below which the share `tail` of the standard normal distribution lies, by halving an interval.
 * @param tail above 0, at most 0.5
 */
export function normalQuantile(tail: number): number {
  let [low, high] = [-40, 0];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (normalShare(middle) < tail) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
