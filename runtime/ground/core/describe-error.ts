/** The parts of an error that may be logged. */
export interface ErrorDescription {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: ErrorDescription;
}

const LONGEST_CHAIN = 5;

/**
 * Takes name, message, stack and causes, and no other property of the error. Store clients attach the command with
 * its arguments to their errors, and the arguments contain user data.
 * @param stacks false if stack traces would not help
 */
export function describeError(error: unknown, stacks = true, depth = 1): ErrorDescription {
  if (!(error instanceof Error)) return { name: typeof error, message: 'the thrown value is not an Error' };
  return {
    name: error.name,
    message: error.message,
    ...(error.stack === undefined || !stacks ? {} : { stack: error.stack }),
    ...(error.cause === undefined || depth === LONGEST_CHAIN
      ? {}
      : { cause: describeError(error.cause, stacks, depth + 1) }),
  };
}
