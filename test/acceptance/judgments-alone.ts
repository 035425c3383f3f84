/**
 * From a folder of judgments alone to a served model, as a new user types it: on three generated folders of odd shapes,
 * runs the commands that `millrace init` prints, and asks the service for the first request. Prints how many commands there
 * were, how long they took, and the NDCG@10 of the test before and after the training:
 * `node dist/test/acceptance/judgments-alone.js --python PYTHON`. Python needs lightgbm, pandas and pyarrow.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { table } from '../../bench/support/measure.js';
import { Random } from '../../runtime/ground/core/random.js';
import { BIN } from '../support/repository.js';

/** How the lines of a file are written. */
interface Form {
  readonly queries: number;
  /** The columns that a line can have, by number. The first three decide the grade. */
  readonly columns: readonly number[];
  /** The share of the other columns that a line leaves out. */
  readonly sparse: number;
  readonly line: (query: number, candidate: number) => readonly [qid: string, comment: string];
}

/** @returns the lines, and the number of lines of each query */
function judgments(seed: number, { queries, columns, sparse, line }: Form): readonly [string, number[]] {
  const random = new Random(seed);
  const sizes = Array.from({ length: queries }, () => 2 + Math.floor(random.next() * 28));
  const lines = sizes.flatMap((size, query) =>
    Array.from({ length: size }, (_, candidate) => {
      const values = columns.map(() => random.next());
      const [a = 0, b = 0, c = 0] = values;
      const grade = Math.max(0, Math.min(4, Math.floor(2.4 * a + 1.6 * b * c + random.around(-0.4, 0.4))));
      const cells = values.flatMap((value, at) =>
        at > 2 && random.next() < sparse ? [] : [`${columns[at] ?? 0}:${value.toFixed(5)}`],
      );
      const [qid, comment] = line(query, candidate);
      return [
        String(grade),
        ...(qid === '' ? [] : [qid]),
        ...cells,
        ...(comment === '' ? [] : [comment]),
      ].join(' ');
    }),
  );
  return [`${lines.join('\n')}\n`, sizes];
}

const numbers = (count: number, from = 1): number[] => Array.from({ length: count }, (_, at) => from + at);
const sizesText = (sizes: readonly number[]): string => `${sizes.join('\n')}\n`;

/** As LETOR: three parts, a column that is always 0, queries with gaps between their numbers, and comments. */
function letor(): Readonly<Record<string, string>> {
  const form = (first: number, queries: number): Form => ({
    queries,
    columns: numbers(46),
    sparse: 0,
    line: (query, at) => [
      `qid:${first + 3 * query}`,
      `47:0 #docid = GX${first}-${query}-${at} inc = 1 prob = 0.13`,
    ],
  });
  return {
    'train.txt': judgments(1, form(10_002, 300))[0],
    'vali.txt': judgments(2, form(20_002, 60))[0],
    'test.txt': judgments(3, form(30_002, 80))[0],
    'README.md': 'the licence of the data',
  };
}

/** As the example of LightGBM: no `qid:`, sizes of queries beside it, columns from 0 on, and nine of ten left out. */
function lightgbm(): Readonly<Record<string, string>> {
  const form = (queries: number): Form => ({
    queries,
    columns: numbers(300, 0),
    sparse: 0.9,
    line: () => ['', ''],
  });
  const [train, trainSizes] = judgments(4, form(200));
  const [test, testSizes] = judgments(5, form(60));
  return {
    ...{ 'rank.train': train, 'rank.train.query': sizesText(trainSizes), 'train.conf': 'task = train\n' },
    ...{ 'rank.test': test, 'rank.test.query': sizesText(testSizes) },
  };
}

/** One compressed file with a name of its own, texts as queries, and few columns with numbers that are far apart. */
function single(): Readonly<Record<string, string>> {
  const line: Form['line'] = (query, at) => [`qid:marke-${query}`, `# docid = Ø${query}/${at}`];
  return {
    'bewertung.2026.gz': judgments(6, { queries: 150, columns: [3, 17, 900, 4_000], sparse: 0.5, line })[0],
  };
}

const { values } = parseArgs({ options: { python: { type: 'string', default: 'python3' } } });
const env = { ...process.env, MILLRACE_PYTHON: values.python, LOG_LEVEL: 'info' };

/** @param words what follows `millrace` */
function millrace(words: string, folder: string): string {
  return execFileSync(process.execPath, [BIN, ...words.split(' ')], { cwd: folder, env, encoding: 'utf8' });
}

/** The NDCG@10 of `evaluate`. */
function ndcgIn(text: string): string {
  return /^ndcg@10\s+(\S+)/m.exec(text)?.[1] ?? '';
}

/** Serves the project until it has answered its first request. @returns the candidates of the answer */
async function served(folder: string): Promise<number> {
  const service = spawn(process.execPath, [BIN, 'serve', '--port', '0'], { cwd: folder, env });
  try {
    for await (const line of createInterface(service.stdout)) {
      const { msg, url } = JSON.parse(line) as { readonly msg: string; readonly url?: string };
      if (msg !== 'listening' || url === undefined) continue;
      const answer = await fetch(`${url}/api/v1/search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: await readFile(join(folder, 'request.json')),
      });
      const page = (await answer.json()) as {
        readonly ranked_candidates: readonly { readonly ranked_score: number }[];
      };
      if (new Set(page.ranked_candidates.map((one) => one.ranked_score)).size < 2)
        throw new Error('the model gives all candidates one score');
      return page.ranked_candidates.length;
    }
    throw new Error('the service ended before it listened');
  } finally {
    service.kill();
    await once(service, 'exit');
  }
}

/** Types what `init` says. */
async function walk(root: string, files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, 'set', name)), { recursive: true });
    await writeFile(join(root, 'set', name), name.endsWith('.gz') ? gzipSync(text) : text);
  }
  const started = performance.now();
  const told = millrace('init shop --judgments set --no-git', root);
  if (told.includes('warning')) throw new Error(`init warned without a reason:\n${told}`);
  const shop = join(root, 'shop');
  const next = [...told.matchAll(/^ {2}npx --no millrace (.*)$/gm)].map(([, words = '']) => words);
  const commands = next.filter((words) => /^(dataset build|train|evaluate) /.test(words));
  let after = '';
  for (const words of commands) after = millrace(words, shop);
  const candidates = await served(shop);
  // `init`, `cd`, those that it names, and `serve`.
  const typed = commands.length + 3;
  const holdout = /ndcg@10 (\S+) .*before (\S+),/s.exec(
    await readFile(join(shop, 'models/ltr.txt.card.md'), 'utf8'),
  );
  return [
    String(typed),
    ((performance.now() - started) / 60_000).toFixed(1),
    `${holdout?.[2] ?? ''} → ${holdout?.[1] ?? ''}`,
    ndcgIn(after),
    String(candidates),
  ];
}

const rows: string[][] = [];
for (const [name, files] of Object.entries({
  'as LETOR': letor(),
  'as LightGBM': lightgbm(),
  'one file': single(),
})) {
  const root = await mkdtemp(join(tmpdir(), 'millrace-judgments-alone-'));
  try {
    rows.push([name, ...(await walk(root, files))]);
  } finally {
    await rm(root, { recursive: true });
  }
}
console.log(table(['folder', 'commands', 'minutes', 'hold-out NDCG@10', 'test NDCG@10', 'first page'], rows));
