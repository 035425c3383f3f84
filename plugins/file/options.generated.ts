// `npm run generate` writes this file from options.schema.json.

export interface Options {
  /** How long a segment is kept after its last record, e.g. 90d. By default the setting ledger.keep. */
  readonly keep?: string;
  /**
   * How large the folder may become, e.g. 500MB; the oldest segments go first. By default the setting
   * ledger.bytes.
   */
  readonly bytes?: string;
}
