import { join } from 'node:path';
import type { JsonObject } from '../../ground/api/types.js';
import {
  buildTextStatistics,
  DEFAULT_ANALYZER,
  writeTextStatistics,
  type FieldTexts,
} from '../../../plugins/text_match/index.js';
import { valueAt } from '../../project/foreign/read-values.js';
import { idText } from '../../ground/core/ids.js';
import type { CliContext } from '../context.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { openInput, type Input } from '../../project/rows/open-input.js';
import type { AnalyzerSettings } from '../../ground/text/index.js';
import { loadRows } from '../load/load-rows.js';
import { openTarget } from '../load/open-target.js';
import { startProgress } from '../../ground/core/progress.js';
import type { Send } from '../../state/index/send-batch.js';
import type { InputRow } from '../../project/rows/rows.js';
import type { DataTarget } from '../load/target.js';
import { writeWhole } from '../../ground/core/write-whole.js';
import { STATISTICS_VIEW } from '../../project/starter/guess-numbers.js';
import { textSteps } from '../../project/starter/pipeline-text.js';
import type { ProductGuess } from '../../project/starter/product-guess.js';
import { DATA } from '../../project/starter/new-project.js';

/**
 * Loads the files under `rows/` into the store of a project.
 * @throws CommandFailure if a row is refused, or the error that stopped the load
 */
export async function loadData(context: CliContext, folder: string, guess: ProductGuess): Promise<void> {
  const flags = { project: folder, store: 'embedded', dataDir: join(folder, '.millrace') };
  const target = await openTarget({ ...context, env: withoutSettings(context.env) }, flags, 'pipelines');
  try {
    await load(
      context,
      { path: join(folder, DATA.products), what: 'products', key: guess.key.name },
      async (rows) => {
        await target.upload('product', undefined, rows);
        return { older: 0 };
      },
      target,
    );
    if (guess.features.length > 0)
      await load(
        context,
        { path: join(folder, DATA.statistics), what: 'statistics', key: guess.key.name },
        (rows) => target.push(STATISTICS_VIEW, rows),
        target,
      );
  } finally {
    await target.close();
  }
}

/** The environment names the store and the project of something else. */
export function withoutSettings(env: CliContext['env']): CliContext['env'] {
  const kept = Object.entries(env).filter(([name]) => !/^(MILLRACE_|REDIS_)/.test(name));
  return Object.fromEntries(kept);
}

interface LoadedFile {
  readonly path: string;
  /** Its rows, as the progress names them. */
  readonly what: string;
  /** The column of the id. */
  readonly key: string;
}

async function load(
  context: CliContext,
  { path, what, key }: LoadedFile,
  send: Send<InputRow>,
  target: DataTarget,
): Promise<void> {
  const input = await openLines(context, path);
  try {
    const progress = startProgress(context.stderr, `loading ${what}`, input.totalBytes);
    const order = {
      idOf: ({ value }: { readonly value: JsonObject }) => idText(value[key]),
      isOrdered: () => false,
    };
    const report = await loadRows(input, { order, send, shape: target.batches }, progress);
    if (report.failure !== undefined) throw report.failure;
    const [bad] = report.bad;
    if (bad !== undefined)
      throw new CommandFailure(`product ${bad.line} of the file is refused: ${bad.problem}`);
  } finally {
    await input.close();
  }
}

/** Counts the words of the texts that the pipeline searches. */
export async function writeStatistics(
  context: CliContext,
  folder: string,
  guess: ProductGuess,
): Promise<readonly string[]> {
  const files: string[] = [];
  for (const { fields, statistics } of textSteps(guess)) {
    const input = await openLines(context, join(folder, DATA.products));
    try {
      const paths = fields.map(({ path }) => path);
      const texts = textsOf(
        input,
        paths.map((path) => path.slice('product.'.length)),
      );
      const counted = { ...(await buildTextStatistics(texts, analyzerOf(guess))), fields: paths };
      await writeWhole(join(folder, statistics), writeTextStatistics(counted));
    } finally {
      await input.close();
    }
    files.push(statistics);
  }
  return files;
}

/** The analyzer of the steps that `textSteps` makes. */
function analyzerOf({ language }: ProductGuess): AnalyzerSettings {
  if (language === undefined) return DEFAULT_ANALYZER;
  return { ...DEFAULT_ANALYZER, language: language.language, stemming: 'language' };
}

async function* textsOf(input: Input, names: readonly string[]): AsyncGenerator<readonly FieldTexts[]> {
  for await (const { rows } of input.chunks())
    for (const { value } of rows) yield names.map((name) => valueAt(value, name) as FieldTexts);
}

function openLines({ stdin }: CliContext, path: string): Promise<Input> {
  return openInput(path, { stdin, columnTypes: () => Promise.resolve(new Map<string, never>()) });
}
