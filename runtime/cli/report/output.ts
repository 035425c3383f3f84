import { writeFile } from 'node:fs/promises';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { fileProblem } from '../../ground/core/file-problem.js';

/** Writes a file that a flag names. @throws CommandFailure if it cannot be written */
export async function writeOutput(path: string, content: string): Promise<void> {
  await writeFile(path, content).catch((error: unknown) => {
    throw new CommandFailure(`cannot write ${path}: ${fileProblem(error)}`, undefined, {
      cause: error,
    });
  });
}
