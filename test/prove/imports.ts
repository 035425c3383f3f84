import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { atOnce } from '../../runtime/ground/core/pieces.js';
import { bootstrapInterval, mean, type Interval } from '../../runtime/ground/core/statistics.js';
import { createApp } from '../../runtime/serve/app/app.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { ndcg } from '../../runtime/learn/evaluation/metrics.js';
import { openDataFolder, readRequests } from '../../runtime/learn/training/data-files.js';
import type { DecodedRecord } from '../../runtime/state/ledger/record-decoder.js';
import { readRecords } from '../../runtime/state/ledger/record-reader.js';
import { millrace } from '../support/command-line.js';
import { repositoryPath } from '../support/repository.js';
import { Oracle, type OracleRow } from './imports/oracle.js';
import { PROJECT } from './imports/project.js';
import { ga4Lines, inTime, itemLines, metarankLines, shopLog, type ShopMoment } from './imports/shop-log.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';

const DAY = 86_400_000;
/** Sums of floating point numbers in another order. */
const TOLERANCE = 1e-9;
/** The seeds of the full form; the short form uses the first. */
const SEEDS = [20_261, 20_262, 20_263];
const SHORT = { days: 10, listsADay: 40, products: 60, users: 60 };
const FULL = { days: 30, listsADay: 100, products: 120, users: 150 };

export const FORMS = [
  { map: 'ga4', lines: ga4Lines, changes: false, hasPositions: true },
  { map: 'metarank', lines: metarankLines, changes: true, hasPositions: false },
] as const;
type Form = (typeof FORMS)[number];

interface ImportOptions {
  readonly seed: number;
  readonly days: number;
  readonly listsADay: number;
  readonly products: number;
  readonly users: number;
}

/** What one log showed. */
interface ImportFigures {
  readonly lists: number;
  readonly cells: number;
  /** Cells of the import that are not the oracle's, with an example of the first ones. */
  readonly wrong: readonly string[];
  /** Loads that were killed. */
  readonly killed: number;
  /** Cells that were served after `feedback load`, and those that are not the ones of the next imported list. */
  readonly served: number;
  readonly skewed: readonly string[];
  readonly without: number;
  readonly with: number;
  readonly gain: Interval & { readonly mean: number };
}

/** Imports logs whose truth is known, and compares every value with an oracle, and with what is served afterwards. */
export const imports: Proof = {
  name: 'imports',
  page: 'import.md',
  summary: 'an imported log has the values of the time of each request; what is served afterwards is equal',
  run: prove,
};

async function prove({ short }: ProofOptions): Promise<ProofResult> {
  const rows: string[] = [];
  const missed: string[] = [];
  for (const seed of short ? SEEDS.slice(0, 1) : SEEDS)
    for (const form of FORMS) {
      const figures = await measureImport(form, { seed, ...(short ? SHORT : FULL) }, short ? 3 : 12);
      const { lists, cells, wrong, killed, served, skewed, gain } = figures;
      const interval = `${gain.mean.toFixed(3)} (${gain.lower.toFixed(3)} to ${gain.upper.toFixed(3)})`;
      rows.push(
        `| ${[seed, form.map, lists, cells, wrong.length, killed, served, skewed.length].join(' | ')} | ` +
          `${figures.without.toFixed(3)} | ${figures.with.toFixed(3)} | ${interval} |`,
      );
      console.log(rows.at(-1));
      const name = `seed ${seed}, ${form.map}`;
      if (wrong.length > 0) missed.push(`${name}: ${wrong.length} cells differ, e.g. ${examples(wrong)}`);
      if (skewed.length > 0)
        missed.push(`${name}: ${skewed.length} served cells differ, e.g. ${examples(skewed)}`);
      if (gain.lower <= 0) missed.push(`${name}: the gain from histories is not above 0: ${interval}`);
    }
  return {
    markdown: [
      'Generated logs of a shop whose truth is known. `cells` are the values of the imported rankings, `wrong` those that',
      "are not the oracle's. `feedback load` is run once, killed at several times, and run again. `served` are the values of",
      'requests after it, `skewed` those that are not the values that an import gives the same requests. The rest is NDCG@10',
      'of the clicks of held-out requests: params tuned with the attributes alone, with counters and histories, and the',
      'paired difference with its 95 % interval.',
      '',
      '| seed | log | lists | cells | wrong | kills | served | skewed | without | with | difference |',
      '| ---: | --- | ----: | ----: | ----: | ----: | -----: | -----: | ------: | ---: | ---------- |',
      ...rows,
    ].join('\n'),
    missed,
  };
}

/** One cell of each column. */
function examples(cells: readonly string[]): string {
  const byColumn = new Map(cells.map((cell) => [/[a-z_]+[:.][a-z_0-9.]+/.exec(cell)?.[0], cell]));
  return [...byColumn.values()].join('; ');
}

/** A project of its own with one log, and the same log with some lists after it. */
interface MadeImport {
  readonly root: string;
  readonly known: readonly ShopMoment[];
}

async function withImport<T>(
  form: Form,
  options: ImportOptions,
  use: (made: MadeImport) => Promise<T>,
): Promise<T> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-prove-imports-'));
  try {
    // The log ends a moment ago, so that windows of the log and of the service are about the same time.
    const end = 1000 * Math.floor(Date.now() / 1000) - 60_000;
    const from = end - options.days * DAY - 8 * 3_600_000;
    const moments = shopLog({ ...options, from, changes: form.changes });
    const known = moments.filter(({ time }) => time < end);
    await writeProject(root);
    await writeFile(join(root, 'log.jsonl'), form.lines(known));
    await writeFile(join(root, 'items.jsonl'), itemLines(known));
    await run(['entities', 'load', 'product', join(root, 'items.jsonl'), '--project', root]);
    return await use({ root, known });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** @returns the arguments that read a log of the project */
function reading(root: string, form: Form, file = 'log.jsonl'): string[] {
  const rejected = ['--rejected', join(root, 'rejected.jsonl')];
  return [join(root, file), '--map', form.map, '--project', root, ...rejected];
}

/** Imports a log, and compares every value with the oracle's. */
export async function importedCells(
  form: Form,
  options: ImportOptions,
): Promise<Pick<ImportFigures, 'wrong' | 'cells' | 'lists'>> {
  return await withImport(form, options, async ({ root, known }) => {
    await run(['ledger', 'import', ...reading(root, form)]);
    return await compareImport(join(root, '.millrace/ledger'), known, form.hasPositions);
  });
}

async function measureImport(form: Form, options: ImportOptions, kills: number): Promise<ImportFigures> {
  return await withImport(form, options, async ({ root, known }) => {
    await run(['ledger', 'import', ...reading(root, form)]);
    const imported = await compareImport(join(root, '.millrace/ledger'), known, form.hasPositions);
    const load = ['feedback', 'load', ...reading(root, form)];
    const killed = await killLoads(load, kills);
    await run(load);
    // A service never serves a time before that of the load, which leaves out what is older than the windows.
    const next = nextLists(known, 1000 * Math.floor(Date.now() / 1000));
    await writeFile(join(root, 'log-and-next.jsonl'), form.lines([...known, ...next]));
    const other = join(root, 'ledger-next');
    await run(['ledger', 'import', ...reading(root, form, 'log-and-next.jsonl'), '--out', other]);
    return { ...imported, killed, ...(await compareServed(root, other, next)), ...(await gainOf(root)) };
  });
}

/** Begins loads, and kills each of them at another time. @returns how many were killed before they ended */
async function killLoads(argv: readonly string[], kills: number): Promise<number> {
  let killed = 0;
  const started = performance.now();
  const whole = await ended(argv);
  const took = performance.now() - started;
  if (whole !== 0) throw new Error(`${argv.join(' ')} ended with ${whole}`);
  for (let number = 0; number < kills; number++) {
    const more = number % 2 === 0 ? [] : ['--resume'];
    const share = 0.3 + (0.65 * (number + 0.5)) / kills;
    if ((await ended([...argv, ...more], Math.round(took * share))) === null) killed += 1;
  }
  return killed;
}

/** @returns the exit code of a command; null if it was killed */
async function ended(argv: readonly string[], killAfter?: number): Promise<number | null> {
  const child = spawn(process.execPath, [repositoryPath('dist/bundle/bin.js'), ...argv], {
    stdio: 'ignore',
    timeout: killAfter,
    killSignal: 'SIGKILL',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

/** A list for each of some users, at one time after the log. */
function nextLists(moments: readonly ShopMoment[], time: number): ShopMoment[] {
  const byUser = new Map<string, ShopMoment>();
  for (const moment of moments) if (moment.is === 'list') byUser.set(moment.user, moment);
  return [...byUser.values()].slice(0, 20).map((list, at) => ({ ...list, time, id: `r99999${at}` }));
}

async function writeProject(root: string): Promise<void> {
  for (const [path, text] of Object.entries(PROJECT)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

/** Every value of every imported ranking beside that of the oracle. */
async function compareImport(
  ledger: string,
  moments: readonly ShopMoment[],
  hasPositions: boolean,
): Promise<Pick<ImportFigures, 'wrong' | 'cells' | 'lists'>> {
  const records = new Map<string, DecodedRecord>();
  for await (const record of readRecords(ledger))
    if (record.kind === 'ranking') records.set(keyOf(record), record);
  const oracle = new Oracle(hasPositions);
  const wrong: string[] = [];
  let [cells, lists] = [0, 0];
  for (const moment of inTime(moments)) {
    if (moment.is === 'list') {
      const record = records.get(`${moment.time} ${moment.user}`);
      const rows = oracle.rows(moment.time, moment.user, moment.products);
      lists += 1;
      for (const [row, product] of moment.products.entries())
        for (const [name, value] of Object.entries(rows[row] ?? {})) {
          cells += 1;
          const found = record === undefined ? undefined : cellOf(record, name, row);
          if (!isEqual(found, value)) wrong.push(`${moment.id} ${product} ${name}: ${found}, not ${value}`);
        }
    }
    oracle.learn(moment);
  }
  return { wrong, cells, lists };
}

/** GA4 has no ids of requests. A user has one list at a time. */
function keyOf(record: DecodedRecord): string {
  return `${record.field('time')?.numberAt(0) ?? NaN} ${String(record.field('unit')?.at(0))}`;
}

function cellOf(record: DecodedRecord, name: string, row: number): number | string | undefined {
  const cells = record.value(name);
  const value = cells?.at(cells.length === 1 ? 0 : row);
  return typeof value === 'number' || typeof value === 'string' ? value : undefined;
}

function isEqual(found: OracleRow[string], value: OracleRow[string]): boolean {
  if (typeof found !== 'number' || typeof value !== 'number') return found === value;
  return Math.abs(found - value) <= TOLERANCE * Math.max(1, Math.abs(value));
}

/** What a service logs of the lists of `next` at their time, beside what an import of the same lists gives them. */
async function compareServed(
  root: string,
  imported: string,
  next: readonly ShopMoment[],
): Promise<Pick<ImportFigures, 'served' | 'skewed'>> {
  const expected = new Map<string, DecodedRecord>();
  for await (const record of readRecords(imported))
    if (record.kind === 'ranking') expected.set(keyOf(record), record);
  const settings = loadSettings(
    { LOG_LEVEL: 'silent' },
    { project: root, store: 'embedded', dataDir: join(root, '.millrace') },
  );
  const [{ time } = { time: 0 }] = next;
  const ledgerDir = join(root, 'ledger-served');
  const app = await createApp({ ...settings, ledgerDir }, { clock: () => time, records: true });
  try {
    for (const list of next) {
      if (list.is !== 'list') continue;
      const candidates = list.products.map((product) => ({ product_id: product }));
      const body = { request_id: list.id, user: { user_id: list.user }, candidates };
      await app.pipelines[0]?.run(body, { requestId: list.id });
    }
  } finally {
    await app.close();
  }
  let served = 0;
  const skewed: string[] = [];
  for await (const record of readRecords(ledgerDir)) {
    const other = expected.get(keyOf(record));
    for (const { name, is, rows } of record.schema.columns)
      if (is === 'value' && rows === 'candidate')
        for (let row = 0; row < record.rows.candidate; row++) {
          served += 1;
          const [found, value] = [cellOf(record, name, row), other && cellOf(other, name, row)];
          if (!isEqual(found, value))
            skewed.push(`${keyOf(record)} ${name} of row ${row}: ${found}, not ${value}`);
        }
  }
  return { served, skewed };
}

/** Tunes the params of the pipeline with and without histories, and compares the orders of held-out requests. */
async function gainOf(root: string): Promise<Pick<ImportFigures, 'without' | 'with' | 'gain'>> {
  const data = join(root, 'data');
  const at = ['--project', root];
  const search = await readFile(join(root, 'pipelines/search.yaml'), 'utf8');
  await run([
    'dataset',
    'build',
    'search',
    '--out',
    data,
    '--today',
    'product',
    '--window',
    '1h',
    '--split',
    'time:60%',
    ...at,
  ]);
  const tuned = async (frozen: RegExp): Promise<ReadonlyMap<string, number>> => {
    const text = search.replaceAll(frozen, (_, name: string) => `${name}: 0\n`);
    await writeFile(join(root, 'pipelines/search.yaml'), text);
    await run(['tune', 'search', '--data', data, '--restarts', '1', '--write', ...at]);
    const written = await readFile(join(root, 'pipelines/search.yaml'), 'utf8');
    const values = written.matchAll(/^ {2}(w_\w+): (?:\{ value: )?(-?[\d.e-]+)/gm);
    return new Map(Array.from(values, ([, name = '', value]) => [name, Number(value)]));
  };
  const plain = await tuned(/(w_ctr|w_brand): \{.*\}\n/g);
  const full = await tuned(/(none): \{.*\}\n/g);
  const folder = await openDataFolder(data);
  const [without, withAll]: [number[], number[]] = [[], []];
  for await (const { rows } of readRequests(folder, 'holdout')) {
    const labels = rows.map((row) => Number(row['label']));
    const ideal = [...labels].sort((a, b) => b - a);
    const scoreOf = (params: ReadonlyMap<string, number>): number | undefined => {
      const scores = rows.map((row) => scoreOfRow(row, params));
      const ranked = [...scores.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
      return ndcg({ ranked: ranked.map((one) => labels[one] ?? 0), ideal }, 10, {
        ...{ gain: 'exp2', relevant: 1, maxGrade: 1 },
      });
    };
    const [a, b] = [scoreOf(plain), scoreOf(full)];
    if (a === undefined || b === undefined) continue;
    without.push(a);
    withAll.push(b);
  }
  const differences = withAll.map((value, i) => value - (without[i] ?? 0));
  return {
    without: mean(without),
    with: mean(withAll),
    gain: { ...atOnce(bootstrapInterval(differences, 1)), mean: mean(differences) },
  };
}

/** The expression of the pipeline's score. */
function scoreOfRow(values: Readonly<Record<string, unknown>>, params: ReadonlyMap<string, number>): number {
  const valueOf = (name: string): number => (typeof values[name] === 'number' ? values[name] : 0);
  const weight = (name: string): number => params.get(name) ?? 0;
  return (
    (weight('w_price') * valueOf('product.price')) / 50 +
    weight('w_ctr') * valueOf('product_live:ctr') +
    weight('w_brand') * Math.log1p(valueOf('pair:clicks_14d'))
  );
}

async function run(argv: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await millrace(argv);
  if (code !== 0) throw new Error(`millrace ${argv.join(' ')}\n${stdout}${stderr}`);
  if (process.env.MILLRACE_PROVE_TELL) console.log(stdout + stderr);
}
