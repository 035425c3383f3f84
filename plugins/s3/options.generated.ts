// `npm run generate` writes this file from options.schema.json.

export interface Options {
  /**
   * Where the segments go, e.g. s3://shop-ledger/live. By default the setting ledger.dir, if that is
   * such a path.
   */
  readonly url?: string;
  /**
   * The address of a server with the API of S3, e.g. http://minio:9000. By default the variable
   * AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, otherwise AWS.
   */
  readonly endpoint?: string;
  /**
   * The region of the bucket. By default the variable AWS_REGION or AWS_DEFAULT_REGION, otherwise
   * us-east-1.
   */
  readonly region?: string;
  /** How long records wait for their segment to fill, from 200ms to 1h: what a killed process can lose. */
  readonly segment: string;
  /**
   * The size at which a segment is stored at once, from 1MB to 64MB. It is in memory until then. At most
   * half of `queue` is used.
   */
  readonly segment_bytes: string;
  /** How long the server may take to connect, and to answer. */
  readonly timeout: string;
}
