import type { BuildContext } from '../api/build-context.js';
import { definePlugin, type Plugin } from '../api/plugin.js';
import type { StepInput } from '../api/step-input.js';
import type { JsonObject } from '../api/types.js';

/** How a policy draws the first places of a request. */
export interface Policy {
  /** How many places it draws, from the first. */
  readonly top: number;
  /** By row: how probable it is that a place takes the candidate, as `DrawByWeights.weights`. */
  weigh(input: StepInput): Float64Array | Promise<Float64Array>;
}

export interface PolicyOf<Options> {
  /** The name that `use:` gives. */
  readonly name: string;
  /** One line, for the docs and `millrace plugins`. */
  readonly summary: string;
  readonly options: JsonObject;
  create(options: Options, build: BuildContext): Policy;
}

/** Makes a rule that draws places by its own weights. The ledger has the probabilities, as for the step `explore`. */
export function definePolicy<Options>(policy: PolicyOf<Options>): Plugin {
  const { name, summary, options: schema } = policy;
  return definePlugin<Options>({
    name,
    summary,
    options: schema,
    kind: 'rule',
    amongCandidates: true,
    create(options, build) {
      const made = policy.create(options, build);
      const { top } = made;
      return {
        scoring: 'keeps',
        explores: { top, draw: { method: 'weights' } },
        async apply(input, ranking) {
          const weights = await made.weigh(input);
          ranking.explore({ top, draw: { method: 'weights', weights } });
          return { applied: input.rows.length, skipped: 0 };
        },
      };
    },
  });
}

/**
 * Weights of Thompson sampling: how often a candidate has the largest draw, and a half, so that each can be taken.
 * @param samples how often every candidate draws
 * @param draw draws from what is known of a candidate; NaN never is the largest
 */
export function winWeights(
  { count, rows }: Pick<StepInput, 'count' | 'rows'>,
  samples: number,
  draw: (row: number) => number,
): Float64Array {
  const weights = new Float64Array(count).fill(0.5);
  for (let sample = 0; sample < samples; sample++) {
    let [best, largest] = [-1, -Infinity];
    for (const row of rows) {
      const drawn = draw(row);
      if (drawn > largest) [best, largest] = [row, drawn];
    }
    if (best >= 0) weights[best] = (weights[best] ?? 0) + 1;
  }
  return weights;
}

/** Draws from Beta(a, b); NaN unless both are finite and above 0. */
export function drawBeta(a: number, b: number, source: Pick<StepInput, 'random'>): number {
  if (!(a > 0 && b > 0 && a + b < Infinity)) return NaN;
  const [x, y] = [drawLogGamma(a, source), drawLogGamma(b, source)];
  return 1 / (1 + Math.exp(y - x));
}

/**
 * The logarithm of a draw from Gamma(shape, 1), since a draw of a small shape underflows. Marsaglia and Tsang, "A simple method
 * for generating gamma variables", ACM TOMS 2000.
 */
function drawLogGamma(shape: number, source: Pick<StepInput, 'random'>): number {
  if (shape < 1) return drawLogGamma(shape + 1, source) + Math.log(1 - source.random()) / shape;
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const normal = drawNormal(source);
    const v = (1 + c * normal) ** 3;
    if (v > 0 && Math.log(1 - source.random()) < normal ** 2 / 2 + d - d * v + d * Math.log(v))
      return Math.log(d * v);
  }
}

/** Box and Muller 1958. */
function drawNormal(source: Pick<StepInput, 'random'>): number {
  return Math.sqrt(-2 * Math.log(1 - source.random())) * Math.cos(2 * Math.PI * source.random());
}
