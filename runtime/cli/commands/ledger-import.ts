import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../api/duration.js';
import { openTunable, type OpenTunable } from '../../app/project/open-tunable.js';
import { NAME_PATTERN } from '../../api/types.js';
import type { Plan } from '../../compile/plan.js';
import { ProjectInvalidError } from '../../app/app.js';
import { loadProject } from '../../config/project/load-project.js';
import { printable } from '../../core/display-width.js';
import { Collector } from '../../dataset/import/collect.js';
import { guessSources, type FileGuess, type GuessTarget } from '../../dataset/import/guess.js';
import { ImportLedger, segmentsOfImport } from '../../dataset/import/import-ledger.js';
import { countActs, ImportedRecords } from '../../dataset/import/imported-records.js';
import { isReady, READY_MAPS, type ImportMapping, type ReadyMap } from '../../dataset/import/mapping.js';
import { logHasherOf } from '../../pipeline/log/log-hasher.js';
import type { SettingFlags, Settings } from '../../settings/settings.js';
import { printJson, settingsOf, styleOf, tellStrayErrors, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../failure.js';
import { cellValue } from '../input/cells.js';
import { unknownPipeline } from '../load/target.js';
import { startProgress } from '../load/progress.js';
import { foreignFiles, instanceOf, matchFiles, type ForeignFile } from '../ledger-import/input-files.js';
import { importText, type ImportReport } from '../ledger-import/import-text.js';
import { storeEntities } from '../ledger-import/load-entities.js';
import { importName, mappingText, readMapping } from '../ledger-import/mapping-file.js';
import { checkNewFolder, NewProject, writeFiles } from '../ledger-import/new-project.js';
import { proposalText } from '../ledger-import/proposal-text.js';
import { readFiles, sampleOf } from '../ledger-import/read-files.js';
import { Rejects } from '../ledger-import/rejects.js';
import { addSettingFlags } from '../setting-flags.js';

interface Flags extends SettingFlags {
  readonly map?: string;
  readonly pipeline?: string;
  readonly items?: string;
  readonly out?: string;
  readonly newProject?: string;
  readonly yes?: boolean;
  readonly rejected: string;
  readonly within: number;
  readonly replace?: boolean;
  readonly json?: boolean;
}

/** The entity type of the candidates of a new project. */
const NEW_TYPE = 'product';
const MAP_FILE = 'import.yaml';
/** The bytes of the files that one partition holds. */
const PARTITION_BYTES = 32 * 1024 * 1024;
const MOST_PARTITIONS = 1024;

export function ledgerImportCommand(context: CliContext): Command {
  const command = new Command('import')
    .description('import lists that another system showed, and the clicks on them')
    .argument('<FILES...>', 'files or folders: .csv, .tsv, .jsonl, .ndjson, .json or .parquet, also with .gz')
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
        .default(1_800_000, '30m'),
    )
    .option('--replace', 'replace an earlier import of the same files')
    .option('--json', 'print the counts as JSON')
    .action((words: readonly string[], flags: Flags) => importFiles(context, words, flags));
  return addSettingFlags(command, ['project', 'store', 'dataDir']);
}

async function importFiles(context: CliContext, words: readonly string[], flags: Flags): Promise<void> {
  const started = performance.now();
  const folder = flags.newProject;
  if (folder !== undefined) {
    if (flags.project !== undefined) throw new UsageError('--new-project and --project exclude each other');
    await checkNewFolder(folder);
  }
  const files = [...(await foreignFiles(words))];
  if (flags.items !== undefined) files.push(...(await itemsFile(flags.items, files)));
  const target = folder === undefined ? await knownTarget(context, flags) : { candidateType: NEW_TYPE };
  const mapping = await mappingOf(context, flags, words, files, target);
  if (mapping === undefined) return;

  const rejects = new Rejects();
  const project = folder === undefined ? undefined : new NewProject(target.candidateType);
  const sources = matchFiles(mapping.sources, files);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const settings = await settingsFor(context, flags);
  const out = flags.out ?? join(settings.dataDir, 'ledger');
  const instance = await instanceOf(files);
  const before = await segmentsOfImport(out, instance);
  if (before.length > 0 && flags.replace !== true)
    throw new CommandFailure(
      `these files were imported into ${out} before`,
      'with --replace, the import replaces the records of the earlier one',
    );
  await mkdir(out, { recursive: true });
  const work = await mkdtemp(join(out, '.import-'));
  try {
    const collector = new Collector({
      folder: work,
      partitions: Math.min(MOST_PARTITIONS, Math.ceil(bytes / PARTITION_BYTES)),
      within: flags.within,
    });
    const { rows } = await readFiles(context, sources, target.candidateType, rejects, (event) => {
      project?.see(event);
      return collector.add(event);
    });
    if (folder !== undefined && project !== undefined) {
      await writeFiles(folder, { ...project.files(folder), [MAP_FILE]: mappingText(mapping, new Map()) });
    }
    const report = await writeRecords(context, flags, settings, collector, rejects, {
      out,
      instance,
      before,
    });
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
  }
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

/** What the pipeline of an existing project takes. @throws CommandFailure, ProjectInvalidError */
async function knownTarget(
  context: CliContext,
  flags: Flags,
): Promise<GuessTarget & { readonly pipeline: string }> {
  const { project } = await settingsOf(context, flags);
  const { config, diagnostics } = await loadProject(project, context.env);
  if (config === undefined || diagnostics.some(({ severity }) => severity === 'error'))
    throw new ProjectInvalidError(diagnostics);
  const ranking = config.pipelines.filter(({ task }) => task === 'rank');
  const names = config.pipelines.map(({ name }) => name);
  const [only, ...others] = ranking;
  const definition =
    flags.pipeline === undefined && others.length === 0
      ? only
      : ranking.find(({ name }) => name === flags.pipeline);
  if (definition === undefined && flags.pipeline !== undefined)
    throw unknownPipeline(flags.pipeline, names, 'the project');
  if (definition === undefined)
    throw new UsageError(
      names.length === 0
        ? `${project} has no pipeline; --new-project DIR writes a project for the files`
        : `the project has several pipelines; name one: --pipeline ${ranking[0]?.name ?? names[0] ?? ''}`,
    );
  const { request, candidateType } = definition;
  return {
    pipeline: definition.name,
    candidateType: candidateType.value,
    known: { fields: new Set(request.fields.keys()), carried: new Set(request.candidates.keys()) },
  };
}

/** @returns undefined if the user is to look at the proposal first */
async function mappingOf(
  context: CliContext,
  flags: Flags,
  words: readonly string[],
  files: readonly ForeignFile[],
  target: GuessTarget,
): Promise<ImportMapping | undefined> {
  const named = flags.map;
  if (named !== undefined && isReadyMap(named))
    return {
      import: importName(words[0] ?? ''),
      sources: [{ files: files.map(({ name }) => name), map: named }],
    };
  if (named !== undefined) {
    if (NAME_PATTERN.test(named) && (await stat(named).catch(() => undefined)) === undefined)
      throw new UsageError(
        `--map ${named}: expected ${READY_MAPS.join(', ')}, or a file; there is no such file`,
      );
    return await readMapping(named, target.candidateType, context.env);
  }
  const guesses = guessSources(await Promise.all(files.map(sampleOf)), target);
  const output = flags.json === true ? context.stderr : context.stdout;
  output.write(`proposed mapping:\n${proposalText(guesses, styleOf(context, output).width)}`);
  const sources = withoutNames(guesses);
  if (!sources.some((source) => isReady(source) || source.into === 'rankings'))
    throw new CommandFailure(
      'no file looks like a log of lists that were shown',
      'write a mapping (docs/import.md) and name it with --map',
    );
  const mapping = { import: importName(words[0] ?? ''), sources };
  if (flags.yes === true && flags.newProject !== undefined) return mapping;
  const path = await writeProposal(mapping, guesses);
  if (flags.yes === true) {
    output.write(`written to ${path}\n`);
    return mapping;
  }
  const again = `--map ${path}`;
  output.write(
    `written to ${path}; nothing is imported yet. Correct the file if it is wrong, and import with ${again}\n`,
  );
  return undefined;
}

function withoutNames(guesses: readonly FileGuess[]): ImportMapping['sources'] {
  return guesses.flatMap(({ sources }) => sources);
}

/** Writes the proposal into the working directory, under a name that is free. */
async function writeProposal(mapping: ImportMapping, guesses: readonly FileGuess[]): Promise<string> {
  const notes = new Map(guesses.map(({ file, notes: own }) => [file, own]));
  for (let number = 1; ; number++) {
    const path = number === 1 ? MAP_FILE : `import-${number}.yaml`;
    try {
      await writeFile(path, mappingText(mapping, notes), { flag: 'wx' });
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || number > 99)
        throw new CommandFailure(`cannot write ${path}: ${(error as Error).message}`);
    }
  }
}

function isReadyMap(name: string): name is ReadyMap {
  return READY_MAPS.some((ready) => ready === name);
}

async function itemsFile(path: string, files: readonly ForeignFile[]): Promise<readonly ForeignFile[]> {
  if (files.some((file) => relative(file.path, path) === '')) return [];
  const [file] = await foreignFiles([path]);
  return file === undefined ? [] : [{ ...file, name: basename(path) }];
}

interface LedgerPlace {
  readonly out: string;
  readonly instance: string;
  /** Segments of an earlier import of the same files. */
  readonly before: readonly string[];
}

async function writeRecords(
  context: CliContext,
  flags: Flags,
  settings: Settings,
  collector: Collector,
  rejects: Rejects,
  { out, instance, before }: LedgerPlace,
): Promise<
  Pick<
    ImportReport,
    | 'pipeline'
    | 'entities'
    | 'rankings'
    | 'candidates'
    | 'pooled'
    | 'feedback'
    | 'counts'
    | 'values'
    | 'out'
    | 'from'
    | 'to'
    | 'unknownCandidates'
  >
> {
  tellStrayErrors(context, settings);
  const name =
    flags.newProject === undefined
      ? (await knownTarget(context, flags)).pipeline
      : (flags.pipeline ?? 'search');
  const opened = await openTunable(settings, name);
  const ledger = new ImportLedger(out, instance);
  try {
    const plan = planOf(opened, name);
    const entities = await storeEntities(
      collector.wholeEntities(),
      opened.config.entities,
      opened.entities,
      rejects,
    );
    const records = new ImportedRecords({
      plan,
      services: opened.services,
      ledger,
      hasher: logHasherOf(plan.definition, settings),
      projectVersion: opened.version,
      convert: cellValue,
    });
    const feedback = new Map<string, number>();
    const found = { rankings: 0, candidates: 0, pooled: 0, from: Infinity, to: -Infinity };
    const progress = startProgress(context.stderr, 'computing', undefined, 'rankings');
    try {
      for await (const record of collector.records()) {
        if (record.is === 'feedback') {
          records.addFeedback(record);
          countActs([record], feedback);
          continue;
        }
        const refused = await records.addRanking(record);
        if (refused !== undefined) {
          rejects.add({ file: '', line: 0, ...refused, row: { request: record.request } });
          continue;
        }
        found.rankings += 1;
        found.candidates += record.candidates.length;
        if (record.pooled === true) found.pooled += 1;
        found.from = Math.min(found.from, record.time);
        found.to = Math.max(found.to, record.time);
        for (const { acts } of record.candidates) countActs(acts, feedback);
        progress.update(found.rankings, found.rankings);
      }
    } finally {
      progress.stop();
      records.close();
    }
    if (found.rankings > 0) {
      for (const path of before) await rm(path, { force: true });
      ledger.finish();
    } else ledger.abandon();
    return {
      ...found,
      pipeline: name,
      entities,
      feedback,
      counts: collector.counts,
      values: plan.log.values.map((value) => value.name),
      unknownCandidates: records.missing,
      out,
    };
  } catch (error) {
    ledger.abandon();
    throw error;
  } finally {
    await opened.close();
  }
}

function planOf({ plan, config }: OpenTunable, name: string): Plan {
  if (plan !== undefined) return plan;
  throw unknownPipeline(
    name,
    config.pipelines.map((one) => one.name),
    'the project',
  );
}

function importJson(report: ImportReport): object {
  const { counts, rejected, entities, feedback, from, to, ...rest } = report;
  return {
    ...rest,
    from: Number.isFinite(from) ? new Date(from).toISOString() : null,
    to: Number.isFinite(to) ? new Date(to).toISOString() : null,
    entities: Object.fromEntries(entities),
    feedback: Object.fromEntries(feedback),
    ...counts,
    rejected: Object.fromEntries(rejected.counts),
    computed_at: 'import',
  };
}

function duration(text: string): number {
  const milliseconds = parseDuration(printable(text));
  if (milliseconds === undefined || milliseconds <= 0)
    throw new InvalidArgumentError('Expected a duration such as 30m, 2h or 1d.');
  return milliseconds;
}
