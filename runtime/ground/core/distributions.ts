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
 * The share of Student's t distribution that is further from 0 than a value, on both sides: the regularised incomplete
 * beta function at degrees / (degrees + value²) with the parameters degrees / 2 and 1/2.
 * Source: the continued fraction by Lentz's method, as in "Numerical recipes" (above), section 6.4.
 * @param degrees degrees of freedom, 1 or more
 */
export function studentShareBeyond(value: number, degrees: number): number {
  const x = degrees / (degrees + value * value);
  return x < (degrees / 2 + 1) / (degrees / 2 + 2.5)
    ? betaShare(degrees / 2, 0.5, x)
    : 1 - betaShare(0.5, degrees / 2, 1 - x);
}

function betaShare(a: number, b: number, x: number): number {
  if (x <= 0) return 0;
  let c = 1;
  let d = 1 / (1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let k = 1; k < MOST_TERMS; k++) {
    const even = (k * (b - k) * x) / ((a + 2 * k - 1) * (a + 2 * k));
    const odd = (-(a + k) * (a + b + k) * x) / ((a + 2 * k) * (a + 2 * k + 1));
    for (const term of [even, odd]) {
      d = 1 / (1 + term * d);
      c = 1 + term / c;
      fraction *= c * d;
    }
    if (Math.abs(c * d - 1) < Number.EPSILON) break;
  }
  const front = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x);
  return (Math.exp(front) * fraction) / a;
}

/**
 * The value below which the share `tail` of Student's t distribution lies.
 * @param tail above 0, at most 0.5
 * @param degrees degrees of freedom, 1 or more
 * @returns a number that is not positive
 */
export function studentQuantile(tail: number, degrees: number): number {
  let low = -1;
  while (studentShareBeyond(low, degrees) > 2 * tail) low *= 2;
  return halved(low, (value) => studentShareBeyond(value, degrees) < 2 * tail);
}

/**
 * The value below which the share `tail` of the standard normal distribution lies.
 * @param tail above 0, at most 0.5
 */
export function normalQuantile(tail: number): number {
  return halved(-40, (value) => normalShare(value) < tail);
}

/** The value between `low` and 0 up to which `isBelow` holds, by halving the interval. */
function halved(low: number, isBelow: (value: number) => boolean): number {
  let high = 0;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (isBelow(middle)) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
