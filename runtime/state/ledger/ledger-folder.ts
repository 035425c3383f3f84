import { SEGMENT_ENDING, segmentPaths } from '../../ground/sdk/segments.js';
import type { Console } from '../../ground/core/console.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';

/**
 * Checks that a ledger is there, before a command reads it. Warns about a folder or a file without segments.
 * @param path a folder with segments, or a segment
 * @throws CommandFailure if there is nothing
 */
export async function checkLedger({ stderr }: Console, path: string): Promise<void> {
  const paths = await segmentPaths(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new CommandFailure(
      `there is no ledger at ${path}`,
      'name its folder, or set ledger.dir; a service writes a ledger if a pipeline has `log:`, and so does `millrace ledger import`',
      { cause: error },
    );
  });
  if (!paths.some((one) => one.endsWith(SEGMENT_ENDING)))
    stderr.write(`warning: ${path} has no segment of a ledger (*${SEGMENT_ENDING})\n`);
}
