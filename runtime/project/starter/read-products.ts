import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { isMissing, valueAt } from '../foreign/read-values.js';
import { idProblem, idText } from '../../ground/core/ids.js';
import type { Console } from '../../ground/core/console.js';
import { UsageError } from '../config/diagnostics/failure.js';
import { openInput } from '../rows/open-input.js';
import { SeenIds } from '../rows/seen-ids.js';
import { startProgress } from '../../ground/core/progress.js';
import { Census } from './census.js';
import { LanguageCount, type GuessedLanguage } from './guess-language.js';
import { convert } from './column-type.js';
import type { GuessedAttribute, ProductGuess } from './product-guess.js';
import { DATA, type Example } from './new-project.js';

/** What came of the rows of a file. */
export interface ReadProducts {
  readonly products: number;
  readonly withStatistics: number;
  /** Rows whose id an earlier row has. */
  readonly repeated: number;
  /** Rows without an id that can be used, and rows that cannot be read: how many, and the first. */
  readonly refused: { readonly count: number; readonly first: string | undefined };
  /** Values that do not have the type of their column, by column: how many, and the first. */
  readonly unfit: ReadonlyMap<string, { readonly count: number; readonly first: JsonValue }>;
  readonly ids: SeenIds;
  readonly examples: readonly Example[];
  /** Of the texts that queries match. */
  readonly language: GuessedLanguage | undefined;
}

/** So many products show the language of the texts. */
const LANGUAGE_ROWS = 5000;

type Rows = AsyncGenerator<readonly JsonObject[]>;

/** Counts what the columns hold. It reads the whole file. @throws as `openInput` */
export async function takeCensus(context: Console, path: string): Promise<Census> {
  const census = new Census();
  const refuse = (problem: string): void => void (census.unread ??= problem);
  for await (const rows of rowsOf(context, path, 'looking at', refuse))
    for (const row of rows) census.add(row);
  return census;
}

/**
 * Reads the file again and writes it as the entities of the project, one a line.
 * @param folder the folder of the project
 */
export async function convertProducts(
  context: Console,
  path: string,
  guess: ProductGuess,
  folder: string,
): Promise<ReadProducts> {
  const products = await openLines(join(folder, DATA.products));
  const statistics = guess.features.length === 0 ? undefined : await openLines(join(folder, DATA.statistics));
  const unfit = new Map<string, { count: number; first: JsonValue }>();
  const ids = new SeenIds();
  const languages = new LanguageCount();
  const examples: Example[] = [];
  let number = 0;
  let refused = 0;
  let firstRefused: string | undefined;
  let repeated = 0;
  const refuse = (problem: string): void => {
    refused += 1;
    firstRefused ??= problem;
  };
  const attributes = new Map(guess.attributes.map((one) => [one.from, one]));
  const features = new Map(guess.features.map((one) => [one.from, one]));
  const valueOf = (one: GuessedAttribute, value: JsonValue): JsonValue | undefined => {
    const converted = convert(one.type, value);
    if (converted === undefined) {
      const before = unfit.get(one.from);
      if (before === undefined) unfit.set(one.from, { count: 1, first: value });
      else before.count += 1;
    }
    return converted;
  };
  for await (const rows of rowsOf(context, path, 'reading', refuse)) {
    for (const row of rows) {
      number += 1;
      const given = guess.key.from === undefined ? number : row[guess.key.from];
      const problem = isMissing(given) ? `a row has no ${guess.key.name}` : idProblem(given);
      const id = problem === undefined ? idText(given)?.trim() : undefined;
      if (id === undefined || id === '') {
        refuse(problem ?? 'an id cannot be empty');
        continue;
      }
      if (!ids.add(id)) repeated += 1;
      const product: Record<string, JsonValue> = { [guess.key.name]: id };
      const numbers: Record<string, JsonValue> = { [guess.key.name]: id };
      for (const [from, value] of Object.entries(row)) {
        if (from === guess.key.from || isMissing(value)) continue;
        const attribute = attributes.get(from);
        const feature = features.get(from);
        if (feature !== undefined) {
          const number = valueOf(feature, value);
          if (number !== undefined) numbers[feature.name] = number;
        } else if (attribute === undefined) product[guess.names.get(from) ?? from] = value;
        else {
          const converted = valueOf(attribute, value);
          if (converted !== undefined && converted !== '') product[attribute.name] = converted;
        }
      }
      await products.write(product);
      await statistics?.write(numbers);
      addExample(examples, guess, product, id);
      if (products.lines() <= LANGUAGE_ROWS)
        for (const { path: text } of guess.texts) {
          const value = valueAt(product, text.slice('product.'.length));
          if (typeof value === 'string') languages.add(value);
        }
    }
  }
  await products.end();
  await statistics?.end();
  return {
    products: products.lines(),
    withStatistics: statistics?.lines() ?? 0,
    repeated,
    refused: { count: refused, first: firstRefused },
    unfit,
    ids,
    examples,
    language: languages.language(),
  };
}

/** Keeps the first product with a short title, in one line, and the first whose title has no word of it. */
function addExample(examples: Example[], guess: ProductGuess, product: JsonObject, id: string): void {
  if (examples.length === 2 || guess.title === undefined) return;
  const value = valueAt(product, guess.title.path.slice('product.'.length));
  const title = typeof value === 'string' ? value.replaceAll(/\s+/g, ' ').trim() : '';
  if (title.length > 100 || !/^\P{Cc}*\p{L}{2}\P{Cc}*$/u.test(title)) return;
  const [first] = examples;
  if (first === undefined || !shareWords(first.title, title)) examples.push({ id, title });
}

function shareWords(a: string, b: string): boolean {
  const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const words = wordsOf(a);
  return wordsOf(b).some((word) => words.some((one) => one.includes(word) || word.includes(one)));
}

/** Reads a file of any of the formats, whatever separates its columns. */
async function* rowsOf(
  context: Console,
  path: string,
  label: string,
  refuse: (problem: string) => void,
): Rows {
  if (path === '-') throw new UsageError('init reads the file twice, so it cannot be standard input');
  const input = await openInput(path, {
    stdin: context.stdin,
    isForeign: true,
    columnTypes: () => Promise.resolve(new Map<string, never>()),
  });
  const progress = startProgress(context.stderr, label, input.totalBytes);
  let read = 0;
  try {
    for await (const { rows, bad } of input.chunks()) {
      for (const { line, problem } of bad) refuse(`${input.unit} ${line}: ${problem}`);
      read += rows.length;
      progress.update(input.bytesRead(), read);
      yield rows.map(({ value }) => value);
    }
  } finally {
    progress.stop();
    await input.close();
  }
}

interface Lines {
  write(value: JsonObject): Promise<void>;
  end(): Promise<void>;
  lines(): number;
}

async function openLines(path: string): Promise<Lines> {
  await mkdir(dirname(path), { recursive: true });
  const stream = createWriteStream(path);
  let lines = 0;
  // Its error ends the next wait.
  stream.on('error', () => undefined);
  await once(stream, 'open');
  return {
    async write(value) {
      lines += 1;
      if (!stream.write(`${JSON.stringify(value)}\n`)) await once(stream, 'drain');
    },
    async end() {
      stream.end();
      await finished(stream);
    },
    lines: () => lines,
  };
}
