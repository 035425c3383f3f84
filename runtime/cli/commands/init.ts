import { count } from '../../ground/core/count.js';
import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Command, Option } from 'commander';
import { NAME_PATTERN } from '../../ground/api/types.js';
import { plainName } from '../../project/foreign/name-fit.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { writeOwnSchemas } from '../init/editor-schemas.js';
import { exampleShop } from '../init/example-shop.js';
import { importEvents } from '../init/import-events.js';
import { firstCommit } from '../../project/starter/first-commit.js';
import { guessProducts, PRODUCT_ROLES } from '../../project/starter/guess-products.js';
import { loadData, writeStatistics } from '../init/load-data.js';
import {
  findLibSvm,
  libSvmJson,
  libSvmText,
  writeLibSvmProject,
  type LibSvmFiles,
} from '../init/libsvm-project.js';
import { makeMetarankProject } from '../init/metarank-project.js';
import { parseRoles } from '../../learn/judge/judgment-columns.js';
import type { NewProject } from '../../project/starter/new-project.js';
import { projectFiles } from '../../project/starter/project-files.js';
import { convertProducts, takeCensus, type ReadProducts } from '../../project/starter/read-products.js';
import { readSplit, writeSplit, type SplitJudgments } from '../init/split-judgments.js';
import { openTargetFolder, type TargetFolder } from '../../project/starter/target-folder.js';
import { judgmentsText, nextText, productsText } from '../init/told.js';
import type { ProductGuess } from '../../project/starter/product-guess.js';
import { writeWhole } from '../../ground/core/write-whole.js';

/** Which column is what, in the file of products and in that of judgments. */
const COLUMN_ROLES = [
  ...(Object.keys(PRODUCT_ROLES) as (keyof typeof PRODUCT_ROLES)[]),
  'query',
  'grade',
] as const;
type InitColumns = Readonly<Partial<Record<(typeof COLUMN_ROLES)[number], string>>>;

interface Flags {
  readonly from?: string;
  readonly key?: string;
  readonly columns?: InitColumns;
  readonly metarank?: string;
  readonly judgments?: string;
  readonly events?: string;
  readonly git: boolean;
  readonly json?: boolean;
}

export function initCommand(context: CliContext): Command {
  return new Command('init')
    .description('make a project from a file of products: schemas, a pipeline, a test; load the products')
    .argument('[DIR]', 'folder of the project; it is empty or does not exist', '.')
    .option('--from <FILE>', 'products: .csv, .tsv, .jsonl, .json or .parquet [default: an example shop]')
    .option('--key <COLUMN>', 'column with the id of a product [default: the likeliest]')
    .addOption(
      new Option(
        '--columns <NAMES>',
        `what columns are, e.g. id=Artikelnummer,title=Bezeichnung; also ${COLUMN_ROLES.slice(2).join(', ')}`,
      ).argParser((text) => parseRoles(text, COLUMN_ROLES)),
    )
    .option('--events <FILE>', 'lists that were shown and the clicks on them; imported into the ledger')
    .option(
      '--judgments <FILE>',
      'graded candidates by query, split into train and test; or a folder with train.txt and test.txt (LibSVM)',
    )
    .option('--metarank <CONFIG>', 'a configuration of Metarank instead of products; --events are its events')
    .option('--no-git', 'do not commit the files to a new git repository')
    .option('--json', 'print what was guessed as JSON')
    .action((folder: string, flags: Flags) => makeProject(context, folder, flags));
}

/** What a project was made from, and what came of it. */
interface Made {
  readonly guess: ProductGuess;
  readonly read: ReadProducts;
  readonly split: SplitJudgments | undefined;
  readonly written: number;
  /** What the import of events said. */
  readonly events: string | undefined;
}

async function makeProject(context: CliContext, folder: string, flags: Flags): Promise<void> {
  if (flags.metarank !== undefined) {
    const other = (['from', 'key', 'columns', 'judgments'] as const).find(
      (name) => flags[name] !== undefined,
    );
    if (other !== undefined) throw new UsageError(`--metarank cannot be used with --${other}`);
    await makeMetarankProject(context, flags.metarank, folder, flags);
    return;
  }
  const inputs = [flags.from, flags.judgments, flags.events].filter((file) => file !== undefined);
  for (const file of inputs)
    if (file !== '-' && !existsSync(file))
      throw new CommandFailure(`cannot open ${file}: the file does not exist`);
  const libSvm = await libSvmOf(flags);
  const target = await openTargetFolder(context, folder, inputs);
  let tellMade: (kept: readonly string[]) => void;
  let kept: readonly string[];
  try {
    tellMade = await writeAny(context, target, folder, flags, libSvm);
    kept = await target.finish();
  } catch (error) {
    await target.abandon();
    throw error;
  }
  const commit = flags.git ? await firstCommit(target.path) : undefined;
  tellMade(kept);
  if (commit === 'in a repository')
    context.stderr.write('commit the files, so that evaluate --against git:HEAD can compare with them\n');
  if (commit === 'no git')
    context.stderr.write(
      'git could not commit the files, so evaluate --against git:HEAD does not work yet\n',
    );
}

/** Writes the files of a project. @returns a function that prints what was written */
async function writeAny(
  context: CliContext,
  target: TargetFolder,
  folder: string,
  flags: Flags,
  libSvm: LibSvmFiles | undefined,
): Promise<(kept: readonly string[]) => void> {
  if (libSvm === undefined) {
    const made = await writeProject(context, target, flags);
    return (kept) => {
      tell(context, folder, flags, made, kept);
    };
  }
  const project = await writeLibSvmProject(context, target, projectName(target), libSvm);
  const { width } = styleOf(context, context.stdout);
  return (kept) => {
    if (flags.json === true) printJson(context, libSvmJson(project));
    else context.stdout.write(libSvmText(folder, project, kept, width));
  };
}

/**
 * The files of LibSVM judgments without products: their columns are all that is known of the candidates.
 * @throws UsageError for a flag that has no meaning then
 */
async function libSvmOf(flags: Flags): Promise<LibSvmFiles | undefined> {
  const { judgments, from } = flags;
  if (judgments === undefined) return undefined;
  if (from !== undefined) {
    if (judgments !== '-' && statSync(judgments).isDirectory())
      throw new UsageError(
        `--judgments ${judgments} is a folder; with --from, name the file of the judgments`,
      );
    return undefined;
  }
  const files = await findLibSvm(judgments);
  const other = (['key', 'columns', 'events'] as const).find((name) => flags[name] !== undefined);
  if (files !== undefined && other !== undefined)
    throw new UsageError(`--${other} cannot be used with LibSVM judgments alone; add --from FILE`);
  if (files === undefined)
    throw new UsageError(
      `--judgments ${judgments} names products by their ids, so --from FILE must name the file of the products`,
    );
  return files;
}

/** A name for the project of a folder. */
function projectName({ path }: TargetFolder): string {
  const name = plainName(basename(path)).replace(/^[^a-z]+/, '');
  return NAME_PATTERN.test(name) ? name : 'shop';
}

async function writeProject(context: CliContext, target: TargetFolder, flags: Flags): Promise<Made> {
  const { work } = target;
  const from = flags.from ?? (await exampleShop(work));
  const census = await takeCensus(context, from);
  const { query, grade, id, ...columns } = flags.columns ?? {};
  if (flags.key !== undefined && id !== undefined && flags.judgments === undefined)
    throw new UsageError('--key and --columns id=… both name the column of the id; leave one out');
  // The judgments may call the id otherwise than the products do.
  const ofProducts = flags.judgments === undefined || (id !== undefined && census.columns.has(id));
  const key = flags.key ?? (ofProducts ? id : undefined);
  const columnsAre = guessProducts(census, from, { ...columns, ...(key !== undefined && { id: key }) });
  const read = await convertProducts(context, from, columnsAre, work);
  // The default analyzer is for English.
  const guess: ProductGuess =
    read.language === undefined || read.language.language === 'english'
      ? columnsAre
      : { ...columnsAre, language: read.language };
  if (read.products === 0)
    throw new CommandFailure(`no row of ${from} is a product: ${read.refused.first ?? 'it is empty'}`);
  const split =
    flags.judgments === undefined
      ? undefined
      : await readSplit(context, flags.judgments, guess, read.ids, {
          ...(query !== undefined && { query }),
          ...(id !== undefined && id !== key && { id }),
          ...(grade !== undefined && { grade }),
        });
  if (split?.found === 0)
    throw new CommandFailure(
      `no id of ${flags.judgments ?? ''} is a ${guess.key.from ?? guess.key.name} of ${from}; for example ${split.notFound ?? ''}`,
      'name the column of the products that the judgments mean: --key COLUMN',
    );
  const project: NewProject = {
    name: projectName(target),
    guess,
    longest: split?.longest ?? 0,
    query: split?.example,
    examples: read.examples,
  };
  const files = projectFiles(project);
  for (const [file, text] of files) await writeWhole(join(work, file), text);
  const statistics = await writeStatistics(context, work, guess);
  const judgments = split === undefined ? [] : await writeSplit(work, split, guess);
  await loadData(context, work, guess);
  await writeOwnSchemas(work);
  const events = flags.events === undefined ? undefined : await importEvents(context, flags.events, work);
  const imported = events === undefined ? 0 : 1;
  return {
    guess,
    read,
    split,
    events,
    written: imported + files.size + statistics.length + judgments.length,
  };
}

function tell(
  context: CliContext,
  folder: string,
  flags: Flags,
  { guess, read, split, written, events }: Made,
  kept: readonly string[],
): void {
  if (flags.json === true) {
    const { products, repeated, refused, unfit } = read;
    printJson(context, {
      key: guess.key,
      attributes: guess.attributes,
      features: guess.features,
      undeclared: guess.undeclared,
      left_out: guess.leftOut,
      texts: guess.texts.map(({ name }) => name),
      numbers: guess.numbers,
      ...(read.language === undefined ? {} : { language: read.language.language }),
      products,
      repeated,
      refused,
      unfit: Object.fromEntries(unfit),
      ...(split === undefined
        ? {}
        : {
            judgments: {
              queries: split.queries.length,
              train: split.train,
              test: split.test,
              candidates: split.candidates,
              found: split.found,
            },
          }),
      files: written,
    });
    return;
  }
  const { width } = styleOf(context, context.stdout);
  context.stdout.write(productsText(flags.from ?? 'example shop', guess, read, width));
  if (split !== undefined) context.stdout.write(judgmentsText(flags.judgments ?? '', split, width));
  if (events !== undefined) context.stdout.write(events);
  const left = kept.length === 0 ? '' : `; left ${kept.join(', ')} as it was`;
  context.stdout.write(
    `wrote ${written} files${left}; loaded ${count(read.products - read.repeated)} products (embedded)\n`,
  );
  context.stdout.write(nextText(folder, { guess, query: split?.example, examples: read.examples }));
}
