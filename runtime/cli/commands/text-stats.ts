import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Command, Option } from 'commander';
import {
  buildTextStatistics,
  DEFAULT_ANALYZER,
  documentsIn,
  writeTextStatistics,
  type FieldTexts,
  type TextStatistics,
} from '../../../plugins/text_match/index.js';
import type { ColumnTypes } from '../../project/rows/csv.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import type { CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { INPUT_FORMATS, openInput, type Input, type InputFormat } from '../../project/rows/open-input.js';
import { sampleIndex } from '../input/sample-index.js';
import { readReferences } from '../input/read-references.js';
import { parseTextPath, type TextPath } from '../input/text-path.js';
import { readTextStep } from '../input/text-step.js';
import { startProgress } from '../../ground/core/progress.js';
import { readSchemas } from '../project-types.js';
import { addTargetFlags } from '../setting-flags.js';
import { openTarget, type TargetFlags } from '../load/open-target.js';
import { writeWhole } from '../../ground/core/write-whole.js';
import {
  LANGUAGES,
  STEMMING,
  stopWordsOf,
  type AnalyzerSettings,
  type Language,
  type Stemming,
} from '../../ground/text/index.js';

type Flags = TargetFlags & {
  readonly from?: string;
  readonly fromIndex?: boolean;
  readonly rows?: number;
  readonly out?: string;
  readonly format?: InputFormat;
  readonly stemming?: Stemming;
  readonly language?: Language;
  readonly stopWords?: boolean;
  readonly accents?: boolean;
  readonly ngrams?: number;
  readonly units?: boolean;
};

/** How many entities of the index are counted by default. */
const ROWS = 100_000;

export function textStatsCommand(context: CliContext): Command {
  const stats = new Command('text-stats')
    .description('count the words of a catalogue, as statistics for text_match')
    .argument(
      '<PATH...>',
      'text to count, e.g. product.title; several paths count as the fields of one text; or one PIPELINE:STEP, e.g. search:text',
    )
    .option(
      '--from <FILE>',
      'file of the entities: .jsonl, .ndjson, .json, .csv or .tsv, optionally with .gz; or .parquet',
    )
    .option('--from-index', 'count a random sample of the entities that the store has')
    .option('--rows <NUMBER>', `the size of that sample [default: ${ROWS.toLocaleString('en')}]`, rowsOf)
    .option('--out <FILE>', 'file to write [default: standard output; of a step, the file that it reads]')
    .addOption(
      new Option('--format <FORMAT>', 'the format of the file, if its name does not show it').choices(
        INPUT_FORMATS,
      ),
    )
    .addOption(
      new Option('--language <LANGUAGE>', 'the language of the texts; use the options of the step').choices(
        LANGUAGES,
      ),
    )
    .addOption(
      new Option(
        '--stemming <KIND>',
        'how words are stemmed [default: language, or plural without one]',
      ).choices(STEMMING),
    )
    .option('--no-stop-words', 'leave out the stop words of the language')
    .option('--no-accents', 'keep accents: é and e differ')
    .option('--ngrams <LETTERS>', 'cut words into runs of so many letters', lettersOf)
    .option('--units', 'count amounts in base units: 1,5 l and 1500 ml are one word')
    .action((paths: string[], flags: Flags) => countTexts(context, paths, flags));
  return addTargetFlags(stats);
}

function rowsOf(text: string): number {
  const rows = Number(text);
  if (Number.isSafeInteger(rows) && rows >= 1) return rows;
  throw new UsageError(`--rows ${text}: expected a number of entities, at least 1`);
}

function lettersOf(text: string): number {
  const letters = Number(text);
  if (Number.isInteger(letters) && letters >= 2 && letters <= 8) return letters;
  throw new UsageError(`--ngrams ${text}: expected a number of letters from 2 to 8`);
}

function analyzerOf({ language, stemming, stopWords, accents, ngrams, units }: Flags): AnalyzerSettings {
  const kind = stemming ?? (language === undefined ? DEFAULT_ANALYZER.stemming : 'language');
  if (kind === 'language' && language === undefined)
    throw new UsageError('--stemming language needs a language, e.g. --language german');
  if (stopWords === false && language === undefined)
    throw new UsageError('--no-stop-words needs a language, e.g. --language german');
  if (stopWords === false && language !== undefined && stopWordsOf(language) === undefined)
    throw new UsageError(`there are no stop words of ${language}; leave out --no-stop-words`);
  return {
    language,
    stemming: kind,
    stopWords: stopWords === false ? 'drop' : 'keep',
    accents: accents === false ? 'keep' : 'fold',
    ngrams: ngrams ?? 0,
    units: units === true,
  };
}

/** What to count, and where the result goes. */
interface Work {
  readonly paths: readonly string[];
  /** One for all paths, or one for each. */
  readonly analyzer: AnalyzerSettings | readonly AnalyzerSettings[];
  /** Undefined: standard output. */
  readonly out: string | undefined;
}

/** Reads `search:text` as a step, and anything else as paths. */
async function workOf(context: CliContext, names: readonly string[], flags: Flags): Promise<Work> {
  const [only = '', ...more] = names;
  const [, pipeline, step] = /^([^:]+):([^:]+)$/.exec(only) ?? [];
  if (pipeline === undefined || step === undefined)
    return { paths: names, analyzer: analyzerOf(flags), out: flags.out };
  if (more.length > 0)
    throw new UsageError(`${only} is a step, and its fields are counted; leave out ${more.join(' ')}`);
  const own = ANALYZER_FLAGS.find((name) => flags[name] !== undefined && flags[name] !== true);
  if (own !== undefined || flags.units === true)
    throw new UsageError(`the step ${only} says how words are found; leave out ${flagText(own ?? 'units')}`);
  const { paths, analyzers, file } = await readTextStep(context, flags, pipeline, step);
  return { paths, analyzer: analyzers, out: flags.out ?? file };
}

const ANALYZER_FLAGS = ['language', 'stemming', 'stopWords', 'accents', 'ngrams'] as const;

function flagText(name: (typeof ANALYZER_FLAGS)[number] | 'units'): string {
  if (name === 'stopWords') return '--no-stop-words';
  return name === 'accents' ? '--no-accents' : `--${name}`;
}

async function countTexts(context: CliContext, names: readonly string[], flags: Flags): Promise<void> {
  const { from, fromIndex } = flags;
  if ((from === undefined) === (fromIndex !== true))
    throw new UsageError('name the texts to count with either --from FILE or --from-index');
  if (flags.rows !== undefined && fromIndex !== true)
    throw new UsageError('--rows is the size of a sample; it needs --from-index');
  const { paths, analyzer, out } = await workOf(context, names, flags);
  const parsed = await textPaths(context, paths, flags);
  const { statistics, lost } =
    from === undefined
      ? await countIndex(context, parsed, analyzer, flags)
      : await countFile(context, parsed, analyzer, from, flags.format);
  const documents = documentsIn(statistics);
  if (documents === 0)
    throw new CommandFailure(
      `no row of ${from ?? 'the index'} has a ${paths.join(' or ')}`,
      from === undefined ? 'load entities first, with `millrace entities load`' : undefined,
    );
  const content = writeTextStatistics({ ...statistics, fields: paths });
  if (out === undefined) context.stdout.write(content);
  else {
    const file = resolve(out);
    await mkdir(dirname(file), { recursive: true });
    await writeWhole(file, content);
  }
  const terms = statistics.analyzers.reduce((sum, { frequencies }) => sum + frequencies.size, 0);
  context.stderr.write(
    `${documents.toLocaleString('en')} texts, ` +
      `${terms.toLocaleString('en')} different words${lost}` +
      (out === undefined ? '\n' : `: ${out}\n`),
  );
}

/** Statistics, and what a person must know about them. */
interface Counted {
  readonly statistics: TextStatistics;
  readonly lost: string;
}

async function countFile(
  context: CliContext,
  paths: readonly TextPath[],
  analyzer: Work['analyzer'],
  from: string,
  format: InputFormat | undefined,
): Promise<Counted> {
  const followed = paths.flatMap(({ references }) => [...references.keys()]);
  if (followed.length > 0)
    throw new UsageError(
      `${from} does not have the ${followed.join(' and ')} entities that the path leads to; count the index instead: --from-index`,
    );
  const input = await openInput(from, {
    stdin: context.stdin,
    format,
    formatFlag: '--format',
    columnTypes: () => Promise.resolve<ColumnTypes>(new Map()),
  });
  try {
    let skipped = 0;
    const documents = documentsOf(context, input, paths, () => (skipped += 1));
    const statistics = await buildTextStatistics(documents, analyzer);
    const lost = skipped === 0 ? '' : `, ${skipped.toLocaleString('en')} rows could not be read`;
    return { statistics, lost };
  } finally {
    await input.close();
  }
}

async function countIndex(
  context: CliContext,
  paths: readonly TextPath[],
  analyzer: Work['analyzer'],
  flags: Flags,
): Promise<Counted> {
  const target = await openTarget(context, flags, 'data');
  try {
    const at = new Date().toISOString();
    const progress = startProgress(context.stderr, 'reading', undefined);
    const type = paths[0]?.entity ?? '';
    const { rows, of } = await sampleIndex(target, type, flags.rows ?? ROWS, (seen) => {
      progress.update(seen, seen);
    }).finally(() => {
      progress.stop();
    });
    const { entities } = await readSchemas(context, flags);
    const find = await readReferences(target, paths, entities);
    const documents = rows.map((row) => paths.map((path) => path.textsOf(row, find)));
    const statistics = await buildTextStatistics(documents, analyzer);
    const lost = ` of ${rows.length.toLocaleString('en')} out of ${of.toLocaleString('en')} entities`;
    return { statistics: { ...statistics, sample: { rows: rows.length, of, at } }, lost };
  } finally {
    await target.close();
  }
}

/** Parses the paths. All must have the same entity type. */
async function textPaths(
  context: CliContext,
  paths: readonly string[],
  flags: SettingFlags,
): Promise<readonly TextPath[]> {
  const { entities } = await readSchemas(context, flags);
  const parsed = paths.map((path) => parseTextPath(path, entities));
  const types = new Set(parsed.map(({ entity }) => entity));
  if (types.size > 1)
    throw new UsageError(`all paths must have one entity type; these have ${[...types].join(', ')}`);
  return parsed;
}

/** Yields the fields of each row. Rows that cannot be read count as skipped. */
async function* documentsOf(
  context: CliContext,
  input: Input,
  paths: readonly TextPath[],
  skip: () => void,
): AsyncGenerator<readonly FieldTexts[]> {
  const progress = startProgress(context.stderr, 'reading', input.totalBytes);
  let read = 0;
  try {
    for await (const { rows, bad } of input.chunks()) {
      bad.forEach(skip);
      for (const { value } of rows) {
        yield paths.map((path) => path.textsOf(value, () => undefined));
      }
      read += rows.length;
      progress.update(input.bytesRead(), read);
    }
  } finally {
    progress.stop();
  }
}
