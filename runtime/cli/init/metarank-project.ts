import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { counted } from '../../ground/core/count.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, type CliContext } from '../context.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { fileProblem, isFileProblem } from '../../ground/core/file-problem.js';
import { nameOf } from '../../project/starter/metarank/draft.js';
import { readMetarankConfig } from '../../project/starter/metarank/config.js';
import { readMetarankEvents } from '../../project/starter/metarank/events.js';
import { notesText } from '../../project/starter/metarank/migration-text.js';
import { projectFromMetarank } from '../../project/starter/metarank/project.js';
import { checkNewFolder, writeFiles } from '../../project/starter/log-project.js';

interface Flags {
  readonly events?: string;
  readonly json?: boolean;
}

/**
 * Makes a project of a configuration of Metarank, and lists what cannot be carried over.
 * @param file the configuration, often config.yml
 */
export async function makeMetarankProject(
  context: CliContext,
  file: string,
  folder: string,
  flags: Flags,
): Promise<void> {
  await checkNewFolder(folder, folder);
  const config = readMetarankConfig(await readText(file), file);
  const events =
    flags.events === undefined ? undefined : await readMetarankEvents(flags.events, context.stdin);
  if (events?.read === 0)
    throw new CommandFailure(
      `${flags.events ?? ''} has no event of Metarank`,
      'an event is a JSON object with event, id and timestamp',
    );
  const { files, notes } = projectFromMetarank(config, events, nameOf(basename(resolve(folder))));
  await writeFiles(folder, files);
  if (flags.json === true) {
    printJson(context, {
      files: Object.keys(files),
      notes,
      events: events?.read ?? 0,
      rejected: events?.rejected ?? 0,
    });
    return;
  }
  for (const path of Object.keys(files)) context.stdout.write(`${join(folder, path)}  written\n`);
  if (events !== undefined && events.rejected > 0)
    context.stderr.write(`not an event: ${counted(events.rejected, 'row')} of ${flags.events ?? ''}\n`);
  context.stdout.write(notesText(notes, styleOf(context, context.stdout).width));
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (!isFileProblem(error)) throw error;
    throw new CommandFailure(
      `${file} cannot be read: ${fileProblem(error)}`,
      'name the configuration of Metarank',
    );
  }
}
