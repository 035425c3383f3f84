/** Bounds of a connection; times in milliseconds. */
export interface ConnectionLimits {
  /** Until the first connection stands, or `open` gives up. */
  readonly openWithin: number;
  /** Until a TCP or TLS connection stands, and again until the server has taken the password and is ready. */
  readonly connectTimeout: number;
  /** Silence of a server that owes a reply, after which the connection is given up. */
  readonly socketTimeout: number;
  /** Until the last reply to one read or write, however busy the connection is with others. */
  readonly commandTimeout: number;
  /** Longest pause between two attempts to connect. */
  readonly longestPause: number;
  /** Keys that a reading connection may owe, or records that a writing one may; further ones are refused. */
  readonly inFlight: number;
  /** Bytes of values that a writing connection may owe; further ones are refused. */
  readonly inFlightBytes: number;
  /** Until the replicas that must confirm a write have done so. */
  readonly waitWithin: number;
}

/**
 * 100,000 keys are some 15 MB of names and buffers, and a fifth of a second of a healthy server's work. A stalled
 * server is given up after a second and asked again at least twice a second.
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
