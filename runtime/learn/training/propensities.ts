import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { fileProblem } from '../../ground/core/file-problem.js';
import { readStored } from '../../ground/core/stored-files.js';
import { jsonProblem } from '../../ground/core/json-problem.js';

/**
 * Reads a file with the probability that a user looks at place 1, 2, … A later place is like the last one.
 * @throws CommandFailure
 */
export async function readPropensities(path: string): Promise<readonly number[]> {
  let read: unknown;
  try {
    read = JSON.parse(String(await readStored(path)));
  } catch (error) {
    const problem = error instanceof SyntaxError ? jsonProblem(error) : fileProblem(error);
    throw new CommandFailure(`cannot read ${path}: ${problem}`, 'expected a list such as [1, 0.7, 0.55]', {
      cause: error,
    });
  }
  if (
    Array.isArray(read) &&
    read.length > 0 &&
    read.every((one) => typeof one === 'number' && one > 0 && one <= 1)
  )
    return read as number[];
  throw new CommandFailure(
    `${path}: expected a JSON list of numbers above 0 and at most 1, one a place`,
    'for example [1, 0.7, 0.55]',
  );
}
