// `npm run generate` writes this file from options.schema.json.

export interface Options {
  /**
   * The pins, from position to candidate id, e.g. { 1: p42 }. Position 1 is the first of the whole
   * ranking. An id that is not among the candidates is ignored.
   */
  readonly positions: Readonly<Record<string, string>>;
}
