// `npm run generate` writes this file from options.schema.json.

export interface Options {
  /**
   * The address that gets a POST for each batch, e.g. https://collector:8443/records.
   * MILLRACE_SINK_HOSTS must list its host.
   */
  readonly url: string;
  /** HTTP headers of every request, e.g. Authorization: Bearer ${COLLECTOR_TOKEN}. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The time limit of one request. */
  readonly timeout: string;
  /** The largest body, e.g. 512KB. A larger record is sent alone. */
  readonly batch: string;
}
