/** Limits of a connection. Times are in milliseconds. */
export interface ConnectionLimits {
  /** Time limit for the first connection, including all attempts of `open`. */
  readonly openWithin: number;
  /** Time limit for opening a TCP or TLS connection, and again for authentication until the server is ready. */
  readonly connectTimeout: number;
  /** A connection is closed if a reply is due and the server sends nothing for this long. */
  readonly socketTimeout: number;
  /** Time limit for all replies of one read or write, also on a connection that is busy with others. */
  readonly commandTimeout: number;
  /** The longest pause between two attempts to connect. */
  readonly longestPause: number;
  /**
   * The maximum number of keys in flight on a reading connection, or of records on a writing connection. Further ones
   * are rejected.
   */
  readonly inFlight: number;
  /** The maximum bytes of values in flight on a writing connection. Further ones are rejected. */
  readonly inFlightBytes: number;
  /** Time limit for the replicas that must confirm a write. */
  readonly waitWithin: number;
}

/**
 * 100,000 keys need about 15 MB of names and buffers, and 0.2 s of a healthy server's time. A connection to a stalled
 * server is closed after a second, and the client reconnects at least twice a second.
 */
export const DEFAULT_LIMITS: ConnectionLimits = {
  openWithin: 5000,
  connectTimeout: 1000,
  socketTimeout: 1000,
  commandTimeout: 4000,
  longestPause: 500,
  inFlight: 100_000,
  inFlightBytes: 32 * 1024 * 1024,
  waitWithin: 800,
};
