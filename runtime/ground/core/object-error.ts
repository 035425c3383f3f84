/** Object storage cannot be used: it refuses, it does not answer, or something is not set up. */
export class ObjectError extends Error {
  /** As that of a file: `ENOENT` if there is no such object. */
  readonly code: string;
  /** Of the answer; undefined if there was none. */
  readonly status: number | undefined;
  readonly help: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    more: ErrorOptions & {
      readonly code?: string;
      readonly status?: number | undefined;
      readonly help?: string | undefined;
      readonly retryAfterMs?: number | undefined;
    } = {},
  ) {
    super(message, more);
    this.name = 'ObjectError';
    this.code = more.code ?? 'OBJECT';
    this.status = more.status;
    this.help = more.help;
    this.retryAfterMs = more.retryAfterMs;
  }

  /** True if the same request may succeed later. */
  get isPassing(): boolean {
    return this.code === 'UNREACHABLE' || this.status === 429 || (this.status ?? 0) >= 500;
  }
}
