import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { buildTextStatistics, writeTextStatistics } from '../../../plugins/text_match/index.js';
import type { ColumnTypes } from '../input/csv.js';
import type { SettingFlags } from '../../settings.js';
import type { CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../failure.js';
import { INPUT_FORMATS, openInput, type Input, type InputFormat } from '../input/open-input.js';
import { startProgress } from '../load/progress.js';
import { lookUp, readProject } from '../project-types.js';
import { addSettingFlags } from '../setting-flags.js';

interface Flags extends SettingFlags {
  readonly from: string;
  readonly out?: string;
  readonly format?: InputFormat;
  readonly stemming: 'plural' | 'none';
}

export function textStatsCommand(context: CliContext): Command {
  const stats = new Command('text-stats')
    .description('count words over a catalogue, for text_match to weigh them by')
    .argument(
      '<PATH...>',
      'the text to count, e.g. product.title; several are counted as the fields of one text',
    )
    .requiredOption(
      '--from <FILE>',
      'file of the entities: .jsonl, .ndjson, .json or .csv, also with .gz; .parquet',
    )
    .option('--out <FILE>', 'file to write; without it the statistics go to standard output')
    .addOption(
      new Option('--format <FORMAT>', "the file's format, where its name does not tell").choices(
        INPUT_FORMATS,
      ),
    )
    .addOption(
      new Option('--stemming <KIND>', 'how words are reduced, as in the step that reads the file')
        .choices(['plural', 'none'])
        .default('plural'),
    )
    .action((paths: string[], flags: Flags) => countTexts(context, paths, flags));
  return addSettingFlags(stats, ['project']);
}

async function countTexts(context: CliContext, paths: readonly string[], flags: Flags): Promise<void> {
  const fields = await textFields(context, paths, flags);
  const input = await openInput(flags.from, {
    stdin: context.stdin,
    format: flags.format,
    columnTypes: () => Promise.resolve<ColumnTypes>(new Map()),
  });
  let skipped = 0;
  const documents = textsOf(context, input, fields, () => (skipped += 1));
  const statistics = await buildTextStatistics(documents, flags.stemming);
  if (statistics.documents === 0)
    throw new CommandFailure(`no row of ${flags.from} has a ${fields.join(' or ')}`);
  const content = writeTextStatistics(statistics);
  if (flags.out === undefined) context.stdout.write(content);
  else await writeWhole(resolve(flags.out), content);
  const lost = skipped === 0 ? '' : `, ${skipped.toLocaleString('en')} rows could not be read`;
  context.stderr.write(
    `${statistics.documents.toLocaleString('en')} texts, ` +
      `${statistics.frequencies.size.toLocaleString('en')} different words${lost}` +
      (flags.out === undefined ? '\n' : `: ${flags.out}\n`),
  );
}

/** The attributes that the paths name, all texts of one entity type. */
async function textFields(
  context: CliContext,
  paths: readonly string[],
  flags: SettingFlags,
): Promise<readonly string[]> {
  const { entities } = await readProject(context, flags);
  const types = new Set<string>();
  const fields = paths.map((path) => {
    const [, type, attribute] = /^(\w+)\.(\w+)$/.exec(path) ?? [];
    if (type === undefined || attribute === undefined)
      throw new UsageError(
        `${path} is no path; expected an entity type and an attribute, e.g. product.title`,
      );
    types.add(type);
    const found = lookUp(lookUp(entities, type, 'entity type').attributes, attribute, `attribute of ${type}`);
    if (found.type.kind !== 'string')
      throw new UsageError(`${path} is no text; its type is ${found.type.kind}`);
    return attribute;
  });
  if (types.size > 1) throw new UsageError(`the paths are of several entity types: ${[...types].join(', ')}`);
  return fields;
}

/** The fields of each row; rows that cannot be read, or hold something else than text, count as skipped. */
async function* textsOf(
  context: CliContext,
  input: Input,
  fields: readonly string[],
  skip: () => void,
): AsyncGenerator<readonly (string | undefined)[]> {
  const progress = startProgress(context.stderr, 'reading', input.totalBytes);
  let read = 0;
  for await (const { rows, bad } of input.chunks()) {
    bad.forEach(skip);
    for (const { value } of rows) {
      yield fields.map((field) => {
        const text = Object.hasOwn(value, field) ? value[field] : undefined;
        return typeof text === 'string' ? text : undefined;
      });
    }
    read += rows.length;
    progress.update(input.bytesRead(), read);
  }
  progress.stop();
}

/** Writes beside the file first, so that a reader never sees half of it. */
async function writeWhole(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const beside = `${path}.${String(process.pid)}.tmp`;
  await writeFile(beside, content);
  await rename(beside, path);
}
