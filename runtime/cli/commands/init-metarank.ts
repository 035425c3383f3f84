import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Command } from 'commander';
import { printJson, styleOf, type CliContext } from '../context.js';
import { CommandFailure } from '../failure.js';
import { fileProblem, isFileProblem } from '../file-problem.js';
import { nameOf } from '../init/metarank/draft.js';
import { readMetarankConfig } from '../init/metarank/config.js';
import { readMetarankEvents } from '../init/metarank/events.js';
import { notesText } from '../init/metarank/migration-text.js';
import { projectFromMetarank } from '../init/metarank/project.js';
import { checkNewFolder, writeFiles } from '../ledger-import/new-project.js';

interface Flags {
  readonly events?: string;
  readonly json?: true;
}

/** The part of `init` that makes a project of a configuration of Metarank. */
export function initMetarankCommand(context: CliContext): Command {
  return new Command('init-metarank')
    .description('make a project of a configuration of Metarank, and list what cannot be carried over')
    .argument('<CONFIG>', 'the configuration, often config.yml')
    .argument('<DIR>', 'the folder of the new project')
    .option(
      '--events <FILE>',
      'events of Metarank as JSON lines, perhaps with .gz; they show the types of fields',
    )
    .option('--json', 'print the files and the notes as JSON')
    .action((config: string, folder: string, flags: Flags) => initMetarank(context, config, folder, flags));
}

async function initMetarank(context: CliContext, file: string, folder: string, flags: Flags): Promise<void> {
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
    context.stderr.write(
      `${events.rejected.toLocaleString('en')} rows of ${flags.events ?? ''} are no events\n`,
    );
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
