// `npm run generate` writes this file from options.schema.json.

export const METHOD = ['swap', 'plackett_luce', 'epsilon_greedy'] as const;
export type Method = (typeof METHOD)[number];

export interface Options {
  /**
   * How places are drawn: swap neighbours, draw each place by scores, or take any candidate now and
   * then.
   */
  readonly method: Method;
  /** How many places are drawn, from the first of the ranking. */
  readonly top: number;
  /** With `swap`: the probability that a place swaps its candidate with that of the next place. */
  readonly probability?: number;
  /**
   * With `plackett_luce`: the difference of scores that makes a candidate e times (2.7 times) as likely.
   * The larger it is, the more places change.
   */
  readonly temperature?: number;
  /**
   * With `epsilon_greedy`: the probability that a place takes any of the candidates that are left,
   * instead of the best one.
   */
  readonly epsilon?: number;
}
