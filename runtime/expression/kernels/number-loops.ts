/**
 * The inner loops of operators on numbers: `n` results from `o` on, each of the elements that `a`, `b` … hold from
 * `ai`, `bi` … on, `sa`, `sb` … apart (0 repeats one element). NaN is what is not known, and what is not finite.
 * Bools are 0 and 1. One loop for each operator, so that nothing is called per element.
 */
export type BinaryLoop<V> = (
  out: Float64Array,
  o: number,
  a: V,
  ai: number,
  sa: number,
  b: V,
  bi: number,
  sb: number,
  n: number,
) => void;

export type UnaryLoop<V> = (out: Float64Array, o: number, a: V, ai: number, sa: number, n: number) => void;

type Numbers = Float64Array;
export type NumberLoop = BinaryLoop<Numbers>;

// r - r is 0 for a finite r and NaN for any other.

export const add: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    const r = (a[ai + k * sa] as number) + (b[bi + k * sb] as number);
    out[o + k] = r - r === 0 ? r : NaN;
  }
};

export const subtract: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    const r = (a[ai + k * sa] as number) - (b[bi + k * sb] as number);
    out[o + k] = r - r === 0 ? r : NaN;
  }
};

export const multiply: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    const r = (a[ai + k * sa] as number) * (b[bi + k * sb] as number);
    out[o + k] = r - r === 0 ? r : NaN;
  }
};

export const divide: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    const r = (a[ai + k * sa] as number) / (b[bi + k * sb] as number);
    out[o + k] = r - r === 0 ? r : NaN;
  }
};

export const remainder: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    out[o + k] = (a[ai + k * sa] as number) % (b[bi + k * sb] as number);
  }
};

export const equal: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    const x = a[ai + k * sa] as number;
    const y = b[bi + k * sb] as number;
    out[o + k] = x === y ? 1 : x < y || x > y ? 0 : NaN;
  }
};

export const notEqual: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    const x = a[ai + k * sa] as number;
    const y = b[bi + k * sb] as number;
    out[o + k] = x === y ? 0 : x < y || x > y ? 1 : NaN;
  }
};

export const less: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    const x = a[ai + k * sa] as number;
    const y = b[bi + k * sb] as number;
    out[o + k] = x < y ? 1 : x >= y ? 0 : NaN;
  }
};

export const lessOrEqual: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    const x = a[ai + k * sa] as number;
    const y = b[bi + k * sb] as number;
    out[o + k] = x <= y ? 1 : x > y ? 0 : NaN;
  }
};

export const greater: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    const x = a[ai + k * sa] as number;
    const y = b[bi + k * sb] as number;
    out[o + k] = x > y ? 1 : x <= y ? 0 : NaN;
  }
};

export const greaterOrEqual: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    const x = a[ai + k * sa] as number;
    const y = b[bi + k * sb] as number;
    out[o + k] = x >= y ? 1 : x < y ? 0 : NaN;
  }
};

/** Kleene: false if either is, whatever the other. */
export const and: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    const x = a[ai + k * sa] as number;
    const y = b[bi + k * sb] as number;
    out[o + k] = x === 0 || y === 0 ? 0 : x * y;
  }
};

/** Kleene: true if either is, whatever the other. */
export const or: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    const x = a[ai + k * sa] as number;
    const y = b[bi + k * sb] as number;
    out[o + k] = x === 1 || y === 1 ? 1 : x + y;
  }
};

export const least: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    out[o + k] = Math.min(a[ai + k * sa] as number, b[bi + k * sb] as number);
  }
};

export const greatest: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    out[o + k] = Math.max(a[ai + k * sa] as number, b[bi + k * sb] as number);
  }
};

export const power: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    const x = a[ai + k * sa] as number;
    const y = b[bi + k * sb] as number;
    const r = Math.pow(x, y);
    // pow(NaN, 0) is 1, but nothing is computed from what is not known.
    out[o + k] = r - r === 0 && x === x ? r : NaN;
  }
};

export const negate: UnaryLoop<Numbers> = (out, o, a, ai, sa, n) => {
  for (let k = 0; k < n; k++) out[o + k] = -(a[ai + k * sa] as number);
};

export const not: UnaryLoop<Numbers> = (out, o, a, ai, sa, n) => {
  for (let k = 0; k < n; k++) out[o + k] = 1 - (a[ai + k * sa] as number);
};

/** A loop over a function of one number, e.g. of Math. */
export function applying(f: (x: number) => number): UnaryLoop<Numbers> {
  return (out, o, a, ai, sa, n) => {
    for (let k = 0; k < n; k++) {
      const r = f(a[ai + k * sa] as number);
      out[o + k] = r - r === 0 ? r : NaN;
    }
  };
}
