import type { CliContext } from '../context.js';
import { embedImages } from '../../learn/report/embed-images.js';
import { reportPage } from '../../learn/report/page.js';
import type { Report } from '../../learn/report/tree.js';
import { writeOutput } from './output.js';

/** Writes a report as a page of one file, with its images. @throws CommandFailure if it cannot be written */
export async function writeReport({ stderr }: CliContext, path: string, report: Report): Promise<void> {
  const images = await embedImages(report, (message) => stderr.write(`warning: ${message}\n`));
  await writeOutput(path, reportPage(report, images));
}
