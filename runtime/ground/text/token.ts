/** The maximum length of a token; the rest is dropped. */
export const LONGEST_TOKEN = 64;

/** One token at a time, as UTF-16 units: `units[0] … units[length - 1]`. Reused for the next token. */
export interface Token {
  units: Uint16Array;
  length: number;
}
