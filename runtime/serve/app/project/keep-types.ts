import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { describeError } from '../../../ground/core/describe-error.js';
import { writeWhole } from '../../../ground/core/write-whole.js';
import { projectTypes, type DescribedProject } from '../../http/openapi/project-types.js';

/** The file of a project with its types for TypeScript. */
export const TYPES_FILE = 'millrace-types.ts';

/** Writes the types of the project again, if it has a file of them and they have changed. Never rejects. */
export async function keepTypes(root: string, project: DescribedProject, logger: Logger): Promise<void> {
  const path = join(root, TYPES_FILE);
  const written = await readFile(path, 'utf8').catch(() => undefined);
  if (written === undefined) return;
  const text = projectTypes(project);
  if (text === written) return;
  try {
    await writeWhole(path, text);
    logger.info({ file: TYPES_FILE }, 'the types of the project were written again');
  } catch (error) {
    logger.warn(
      { file: TYPES_FILE, error: describeError(error) },
      'the types of the project cannot be written',
    );
  }
}
