import type { Diagnostic } from './diagnostics.js';

/** The command line itself is invalid: exit code 2. */
export class UsageError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UsageError';
  }
}

/** Expressions on the command line are invalid: exit code 2. Each diagnostic shows the place in its expression. */
export class DiagnosedUsageError extends UsageError {
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super(diagnostics[0]?.message ?? '');
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
