/**
 * The inner loops of operators on numbers. A loop writes `n` results from `o` on. It reads `a` from `ai` on with step
 * `sa`, `b` from `bi` on with step `sb`, and so on; step 0 repeats one element. NaN means a value that is unknown or
 * not finite. Bools are 0 and 1. Each operator has a loop of its own, so that no function is called for each element.
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

// r - r is 0 for a finite r, and NaN for any other.

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

/** If x is more than this many times larger than y, the processor computes the remainder bit by bit, in up to 1 µs. */
const FAR = 2 ** 64;

/** How many of the remainders take long. The arguments are those of the loop. */
export function countFar(
  a: Numbers,
  ai: number,
  sa: number,
  b: Numbers,
  bi: number,
  sb: number,
  n: number,
): number {
  let count = 0;
  for (let k = 0; k < n; k++) {
    const y = b[bi + k * sb] as number;
    if (y !== 0 && Math.abs(a[ai + k * sa] as number) > FAR * Math.abs(y)) count++;
  }
  return count;
}

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

/** Three-valued (Kleene) and: false if one operand is false, whatever the other is. */
export const and: NumberLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) {
    const x = a[ai + k * sa] as number;
    const y = b[bi + k * sb] as number;
    out[o + k] = x === 0 || y === 0 ? 0 : x * y;
  }
};

/** Three-valued (Kleene) or: true if one operand is true, whatever the other is. */
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
    // In JavaScript pow(NaN, 0) is 1. Here an unknown operand has an unknown result.
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
