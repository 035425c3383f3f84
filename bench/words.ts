import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Compounds } from '../plugins/words/compounds.js';
import { search } from '../plugins/words/search.js';
import { WordIndex } from '../plugins/words/word-index.js';
import { queryWords } from '../plugins/words/word-query.js';
import { atOnce } from '../runtime/ground/core/pieces.js';
import { Analyzer } from '../runtime/ground/text/index.js';
import { freshness } from './freshness.js';
import { random } from './support/catalogue.js';
import { cpuSince, median, ms, percentile, table } from './support/measure.js';

interface Product {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

/** An index of words that is compared. */
interface Contestant {
  put(product: Product): void;
  update(product: Product): void;
  search(query: string): readonly { readonly id: string | number; readonly score?: number }[];
}

const VOCABULARY = 60_000;
const QUERIES = 200;
const UPDATES = 5000;
const WANTED = 300;
const WEIGHTS = [3, 1];

/** What is measured in a process of its own, so that its memory is known. */
interface Case {
  readonly name: string;
  readonly count: number;
  readonly folder: string | undefined;
}

/**
 * Measures the index of the retriever `words`: memory, time to build, two words, updates. With a folder, it is compared with
 * the libraries of the same purpose that are installed there (minisearch, @orama/orama, flexsearch): all get the same words.
 * Then a service: see `freshness`.
 * @param only `index` or `fresh`
 * @param size the number of entities; by default 20,000 and 200,000
 */
export async function wordsBench(
  short: boolean,
  folder?: string,
  only?: string,
  size?: number,
): Promise<void> {
  const sizes = size === undefined ? (short ? [2000] : [20_000, 200_000]) : [size];
  if (only !== 'fresh') await indexBench(sizes, folder);
  if (only !== 'index') await freshBench(sizes, short);
}

async function indexBench(sizes: readonly number[], folder?: string): Promise<void> {
  const rows: string[][] = [];
  for (const count of sizes)
    for (const [name] of contestants(folder)) {
      const child = fork(fileURLToPath(import.meta.url), [JSON.stringify({ name, count, folder })], {
        execArgv: ['--expose-gc', '--max-old-space-size=6000'],
      });
      let row = [`${name}, ${count}`, 'failed'];
      child.on('message', (message) => (row = message as string[]));
      await once(child, 'exit');
      rows.push(row);
      // One case can take minutes.
      console.error(row.join('  '));
    }
  console.log(
    `${WANTED} entities for two words; titles of 6 to 10 words, descriptions of 15 to 35; CPU of one core`,
  );
  console.log(
    table(['index, entities', 'bytes an entity', 'build s', 'p50 ms', 'p99 ms', 'updates/s'], rows),
  );
}

/** Each size takes long enough for an update of an eighth of the entities, and a half of it, which is a sweep of the index. */
async function freshBench(sizes: readonly number[], short: boolean): Promise<void> {
  const rows: string[][] = [];
  for (const count of sizes) {
    // The bench itself adds two: of more than 200,000 entities nothing is found.
    const products = catalogue(count - 2, 1);
    rows.push([
      String(count),
      ...(await freshness(products, queriesOf(products), short ? 3 : 10 + count / 5000)),
    ]);
    console.error(rows.at(-1)?.join('  '));
  }
  console.log(
    'a service on the embedded store, by the clock: ms of rankings alone and beside updates, and until found',
  );
  console.log(
    table(
      [
        'entities',
        'p50',
        'p99',
        'p50 beside',
        'p99 beside',
        'updates/s',
        'found p50',
        'found p99',
        'refused',
      ],
      rows,
    ),
  );
}

async function measureCase({ name, count, folder }: Case): Promise<string[]> {
  const open = contestants(folder).find(([one]) => one === name)?.[1];
  if (open === undefined || globalThis.gc === undefined) throw new Error(`${name} cannot be measured`);
  const products = catalogue(count, 1);
  const changed = catalogue(Math.min(count, UPDATES), 2);
  const queries = queriesOf(products);
  globalThis.gc();
  const before = memory();
  const start = process.cpuUsage();
  const index = await open();
  for (const product of products) index.put(product);
  const build = cpuSince(start);
  globalThis.gc();
  const bytes = (memory() - before) / count;
  const times = timesOf(queries, (query) => index.search(query));
  const from = process.cpuUsage();
  for (const product of changed) index.update(product);
  const perSecond = changed.length / (cpuSince(from) / 1000);
  // The products stay in memory until here, so that only the index was measured.
  return [
    `${name}, ${products.length}`,
    bytes.toFixed(0),
    (build / 1000).toFixed(2),
    ms(median(times)),
    ms(percentile(times, 99)),
    perSecond.toFixed(0),
  ];
}

function contestants(folder: string | undefined): [string, () => Promise<Contestant>][] {
  const own: [string, () => Promise<Contestant>][] = [
    ['words', () => Promise.resolve(ownIndex(false))],
    ['words with compounds', () => Promise.resolve(ownIndex(true))],
  ];
  if (folder === undefined) return own;
  // They are no dependencies of this repository.
  const load: (name: string) => unknown = createRequire(join(folder, 'package.json'));
  return [
    ...own,
    ['minisearch', () => Promise.resolve(miniSearch(load))],
    ['orama', () => Promise.resolve(orama(load))],
    ['flexsearch', () => Promise.resolve(flexSearch(load))],
  ];
}

function ownIndex(hasCompounds: boolean): Contestant {
  const analyzer = new Analyzer();
  const index = new WordIndex(analyzer, WEIGHTS.length, hasCompounds);
  const compounds = hasCompounds ? new Compounds(index, analyzer) : undefined;
  const tools = { index, analyzer, bare: analyzer, synonyms: undefined, compounds };
  const put = ({ id, title, description }: Product): void => atOnce(index.put(id, [title, description]));
  return {
    put,
    update: put,
    search: (query) =>
      atOnce(search(index, atOnce(queryWords(query, tools)), { k1: 1.2, b: 0.75, weights: WEIGHTS }, WANTED)),
  };
}

interface MiniSearchLike {
  add(product: Product): void;
  replace(product: Product): void;
  search(query: string, options: object): { id: string; score: number }[];
  vacuum(): unknown;
}

function miniSearch(load: (name: string) => unknown): Contestant {
  const MiniSearch = load('minisearch') as new (options: object) => MiniSearchLike;
  const analyzer = new Analyzer();
  const index = new MiniSearch({
    fields: ['title', 'description'],
    tokenize: (text: string) => analyzer.tokens(text),
    processTerm: (term: string) => term,
  });
  return {
    put: (product) => index.add(product),
    update: (product) => index.replace(product),
    search: (query) => index.search(query, { boost: { title: 3 } }).slice(0, WANTED),
  };
}

interface OramaLike {
  create(options: object): object;
  insert(index: object, document: object): unknown;
  remove(index: object, id: string): unknown;
  search(index: object, options: object): { hits: { id: string; score: number }[] };
}

function orama(load: (name: string) => unknown): Contestant {
  const library = load('@orama/orama') as OramaLike;
  const analyzer = new Analyzer();
  const index = library.create({
    schema: { title: 'string', description: 'string' },
    components: {
      tokenizer: {
        language: 'english',
        normalizationCache: new Map(),
        tokenize: (text: string) => analyzer.tokens(text),
      },
    },
  });
  return {
    put: (product) => void library.insert(index, { ...product }),
    update: (product) => {
      library.remove(index, product.id);
      library.insert(index, { ...product });
    },
    search: (query) =>
      library.search(index, { term: query, boost: { title: 3 }, limit: WANTED, threshold: 1 }).hits,
  };
}

interface FlexSearchLike {
  add(product: Product): void;
  update(product: Product): void;
  search(query: string, options: object): { result: string[] }[];
}

function flexSearch(load: (name: string) => unknown): Contestant {
  const { Document } = load('flexsearch') as { Document: new (options: object) => FlexSearchLike };
  const analyzer = new Analyzer();
  const index = new Document({
    document: { id: 'id', index: ['title', 'description'] },
    encode: (text: string) => analyzer.tokens(text),
    tokenize: 'strict',
    fastupdate: true,
  });
  return {
    put: (product) => index.add(product),
    update: (product) => index.update(product),
    search: (query) =>
      index
        .search(query, { limit: WANTED, suggest: true })
        .flatMap(({ result }) => result)
        .map((id) => ({ id })),
  };
}

/** Words as frequent as those of a language: the n-th has a share of 1 / n. */
function catalogue(count: number, seed: number): Product[] {
  const next = random(seed);
  const word = (): string => `w${Math.floor(VOCABULARY ** next()).toString(36)}`;
  const text = (least: number, most: number): string =>
    Array.from({ length: least + Math.floor(next() * (most - least + 1)) }, word).join(' ');
  return Array.from({ length: count }, (_, i) => ({
    id: `p${i}`,
    title: text(6, 10),
    description: text(15, 35),
  }));
}

/** Two words of the title of a product. */
function queriesOf(products: readonly Product[]): string[] {
  const next = random(3);
  return Array.from({ length: QUERIES }, () => {
    const words = products[Math.floor(next() * products.length)]?.title.split(' ') ?? [];
    const [first = '', second = ''] = [words[Math.floor(next() * 3)], words[3 + Math.floor(next() * 3)]];
    return `${first} ${second}`;
  });
}

function timesOf(queries: readonly string[], run: (query: string) => unknown): number[] {
  for (const query of queries) run(query);
  return queries
    .map((query) => {
      const start = process.cpuUsage();
      run(query);
      return cpuSince(start);
    })
    .sort((a, b) => a - b);
}

function memory(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const [asked] = process.argv.slice(2);
if (process.send !== undefined && asked?.startsWith('{') === true) {
  process.send(await measureCase(JSON.parse(asked) as Case));
  process.disconnect();
}
