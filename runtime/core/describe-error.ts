/** What of an error may be logged. */
export interface ErrorDescription {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: ErrorDescription;
}

const LONGEST_CHAIN = 5;

/**
 * Name, message, stack and causes, and no other member of the error: clients of stores hang the command with its
 * arguments, and so a user's data, on their errors.
 * @param stacks false where the places in the code would tell nothing
 */
export function describeError(error: unknown, stacks = true, depth = 1): ErrorDescription {
  if (!(error instanceof Error))
    return { name: typeof error, message: 'a value that is no Error was thrown' };
  return {
    name: error.name,
    message: error.message,
    ...(error.stack === undefined || !stacks ? {} : { stack: error.stack }),
    ...(error.cause === undefined || depth === LONGEST_CHAIN
      ? {}
      : { cause: describeError(error.cause, stacks, depth + 1) }),
  };
}
