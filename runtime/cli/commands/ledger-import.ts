import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../ground/api/duration.js';
import { printable } from '../../ground/core/display-width.js';
import { isObjectPath } from '../../ground/core/stored-files.js';
import { Collector } from '../../learn/dataset/import/collect.js';
import { segmentsOfImport } from '../../learn/dataset/import/import-ledger.js';
import { READY_MAPS } from '../../project/config/project/ready-maps.js';
import type { SettingFlags, Settings } from '../../project/settings/settings.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { chooseMapping, MAP_FILE } from '../ledger-import/choose-mapping.js';
import { importTarget, type ImportTarget } from '../ledger-import/import-target.js';
import { importJson, importText, type ImportReport } from '../report/import-text.js';
import { foreignFiles, instanceOf, itemsFile, matchFiles } from '../../learn/dataset/import/input-files.js';
import { mappingText } from '../../learn/dataset/import/mapping-file.js';
import { checkNewFolder, NEW_PIPELINE, NewProject, writeFiles } from '../../project/starter/log-project.js';
import { readFiles } from '../../learn/dataset/import/read-files.js';
import { Rejects } from '../../learn/dataset/import/rejects.js';
import { partitionsFor } from '../ledger-import/partitions.js';
import { writeRecords } from '../ledger-import/write-records.js';
import { removeOnSignal } from '../../ground/core/scratch-folder.js';
import { addSettingFlags } from '../setting-flags.js';

interface Flags extends SettingFlags {
  readonly map?: string;
  readonly pipeline?: string;
  readonly items?: string;
  readonly out?: string;
  readonly newProject?: string;
  readonly mapFile?: string;
  readonly yes?: boolean;
  readonly rejected: string;
  readonly within: number;
  readonly replace?: boolean;
  readonly json?: boolean;
}

/** The entity type of the candidates of a new project. */
const NEW_TYPE = 'product';
export const DEFAULT_WITHIN = 1_800_000;

export function ledgerImportCommand(context: CliContext): Command {
  const command = new Command('import')
    .description('import lists that another system showed, and the clicks on them')
    .argument(
      '<FILES...>',
      'files, folders or s3:// paths: .csv, .tsv, .jsonl, .ndjson, .json or .parquet, also with .gz',
    )
    .option('--map <MAP>', `how to read them: ${READY_MAPS.join(', ')}, or a file; by default it is guessed`)
    .option('--pipeline <NAME>', 'the pipeline whose rankings they become; needed if there are several')
    .option('--items <FILE>', 'a file of items, stored before the features are computed')
    .option('--out <DIR>', 'the folder of the ledger; by default that of the project')
    .option('--new-project <DIR>', 'write a small project for the files into a new folder, and use it')
    .option('--yes', 'import by a guessed mapping at once')
    .option('--rejected <FILE>', 'where samples of rejected rows go', 'import-rejected.jsonl')
    .addOption(
      new Option('--within <TIME>', 'how long after a list was shown a click without a request can come')
        .argParser(duration)
        .default(DEFAULT_WITHIN, '30m'),
    )
    .option('--replace', 'replace an earlier import of the same files')
    .option('--json', 'print the counts as JSON')
    .action((words: readonly string[], flags: Flags) => importFiles(context, words, flags));
  return addSettingFlags(command, ['project', 'store', 'dataDir']);
}

/** Imports the lists that another system showed, and prints what came of it. */
export async function importFiles(
  context: CliContext,
  words: readonly string[],
  flags: Flags,
): Promise<void> {
  const started = performance.now();
  const folder = flags.newProject;
  if (folder !== undefined) {
    if (flags.project !== undefined) throw new UsageError('--new-project and --project exclude each other');
    await checkNewFolder(folder);
  }
  const files = [...(await foreignFiles(words))];
  if (flags.items !== undefined) files.push(...(await itemsFile(flags.items, files)));
  const target = await targetOf(context, flags);
  const mapping = await chooseMapping(context, flags, words[0] ?? '', files, target);
  if (mapping === undefined) return;

  const rejects = new Rejects();
  const project = folder === undefined ? undefined : new NewProject(target.candidateType);
  const sources = matchFiles(mapping.sources, files);
  const settings = await settingsFor(context, flags);
  const out = folderFor(flags.out ?? settings.ledgerDir);
  const instance = await instanceOf(files);
  const before = await segmentsOfImport(out, instance);
  if (before.length > 0 && flags.replace !== true)
    throw new CommandFailure(
      `these files were imported into ${out} before`,
      'with --replace, the import replaces the records of the earlier one',
    );
  // An import of the same files that was killed may have left its folder.
  const work = join(out, `.import-${instance}`);
  await rm(work, { recursive: true, force: true });
  const release = removeOnSignal(context, work);
  try {
    await mkdir(work, { recursive: true });
    const collector = new Collector({
      folder: work,
      partitions: partitionsFor(files),
      within: flags.within,
    });
    const { rows } = await readFiles(context, sources, target.candidateType, rejects, (event) => {
      project?.see(event);
      return collector.add(event);
    });
    if (folder !== undefined && project !== undefined) {
      await writeFiles(folder, { ...project.files(folder), [MAP_FILE]: mappingText(mapping, new Map()) });
    }
    const report = await writeRecords(
      context,
      settings,
      { pipeline: target.pipeline, collector, rejects },
      {
        out,
        instance,
        before,
        work,
      },
    );
    if (rejects.total > 0) rejects.write(flags.rejected);
    const whole: ImportReport = {
      ...report,
      rows,
      files: files.length,
      newProject: folder,
      rejected: rejects,
      rejectedFile: flags.rejected,
      seconds: (performance.now() - started) / 1000,
    };
    if (flags.json === true) printJson(context, importJson(whole));
    else context.stdout.write(importText(whole, styleOf(context, context.stdout).width));
    if (report.rankings === 0)
      throw new CommandFailure(
        'no ranking was imported',
        `look at the reasons in ${flags.rejected}, and at the mapping`,
      );
  } finally {
    await rm(work, { recursive: true, force: true });
    release();
  }
}

/** @throws UsageError if it is object storage */
function folderFor(out: string): string {
  if (!isObjectPath(out)) return out;
  throw new UsageError(
    `an import is written to a folder, and ${out} is object storage: name a folder with --out, and copy its files there`,
  );
}

async function targetOf(context: CliContext, flags: Flags): Promise<ImportTarget> {
  if (flags.newProject !== undefined)
    return { candidateType: NEW_TYPE, pipeline: flags.pipeline ?? NEW_PIPELINE };
  const { project } = await settingsOf(context, flags);
  return await importTarget(project, context.env, flags.pipeline);
}

/** The settings of the project, which may be a new one. */
async function settingsFor(context: CliContext, flags: Flags): Promise<Settings> {
  const project = flags.newProject ?? flags.project;
  const settings = await settingsOf(context, {
    ...flags,
    ...(project === undefined ? {} : { project }),
    ...(flags.newProject === undefined ? {} : { store: 'embedded' }),
  });
  // The log goes to standard output, which must contain only the command's answer.
  return { ...settings, logLevel: 'silent', resident: new Set<string>() };
}

/** @throws InvalidArgumentError */
export function duration(text: string): number {
  const milliseconds = parseDuration(printable(text));
  if (milliseconds === undefined || milliseconds <= 0)
    throw new InvalidArgumentError('Expected a duration such as 30m, 2h or 1d.');
  return milliseconds;
}
