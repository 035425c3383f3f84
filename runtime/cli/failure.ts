/** The command line itself is invalid: exit code 2. */
export class UsageError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UsageError';
  }
}

/** The command line is valid but the command failed: exit code 1. */
export class CommandFailure extends Error {
  constructor(
    message: string,
    readonly help?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'CommandFailure';
  }
}
