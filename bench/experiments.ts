import { randomUUID } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApp } from '../runtime/serve/app/app.js';
import type { App } from '../runtime/serve/app/running-app.js';
import { loadSettings } from '../runtime/project/settings/settings.js';
import { memoryLedger } from '../test/support/memory-ledger.js';
import { candidatesOf, catalogue, type Catalogue } from './support/catalogue.js';
import { loadCatalogue } from './support/load-catalogue.js';
import { table } from './support/measure.js';
import { pairHead, summaryOf, type Pair } from './support/pairs.js';

const PROJECT = fileURLToPath(new URL('../../bench/project', import.meta.url));
const USER = 'u1';
const LAST = "'model:score + 0.2 * item.maker.rating - w_price * item.price'";
/** The most that interleaving may cost, relative to one ranking. */
const MOST = { last: 0.3, any: 1 };
/** A cost above this is measured as one, in percent. */
const MEASURABLE = 0.01;
const IDLE = 'ten, none active';

interface Case {
  readonly name: string;
  /** By path. */
  readonly files: Readonly<Record<string, string>>;
  readonly most: number;
  readonly isLogged?: boolean;
}

const experiment = (name: string, arm: string, more = ''): string =>
  `experiment: ${name}\npipeline: items\nunit: user\n${more}arms:\n  control: {}\n  other: ${arm}\n`;
const interleave = (arm: string): string => experiment('mixed', arm, 'mode: interleave\n');

/** The pipeline of the bench, whose requests have a user. */
async function pipelineOf(name: string, changes: readonly (readonly [string, string])[]): Promise<string> {
  const text = await readFile(join(PROJECT, 'pipelines/items.yaml'), 'utf8');
  const all = [
    ['pipeline: items', `pipeline: ${name}`],
    ['  candidates: {}', '  candidates: {}\n  user: optional(user)'],
    ['features:\n', 'params: { w_stock: 0, w_price: 0.001 }\nfeatures:\n'],
    ['item.stock > 0', 'item.stock > w_stock'],
    ["'model:score + 0.2 * item.maker.rating - 0.001 * item.price'", LAST],
    ...changes,
  ] as const;
  return all.reduce((found, [from, to]) => {
    if (!found.includes(from)) throw new Error(`the pipeline of the bench has no ${from}`);
    return found.replaceAll(from, to);
  }, text);
}

async function cases(): Promise<readonly Case[]> {
  const log = (more: string): readonly [string, string] => [
    'page: { size: 24',
    `log: { unit: user${more} }\npage: { size: 24`,
  ];
  const logged = async (name: string, more: string): Promise<Case> => ({
    name,
    files: {
      ...of('{ params: { w_price: 0.01 } }'),
      'pipelines/items.yaml': await pipelineOf('items', [log(more)]),
    },
    most: MOST.last,
    isLogged: true,
  });
  const of = (arm: string): Case['files'] => ({ 'experiments/mixed.yaml': interleave(arm) });
  const second = async (...changes: readonly (readonly [string, string])[]): Promise<Case['files']> => ({
    ...of('{ pipeline: items_v2 }'),
    'pipelines/items_v2.yaml': await pipelineOf('items_v2', changes),
  });
  return [
    { name: 'the last step, by a param', files: of('{ params: { w_price: 0.01 } }'), most: MOST.last },
    await logged('the last step, with a log of the page', ''),
    await logged('the last step, with a log of all', ', candidates: all'),
    {
      name: 'the last step, of a pipeline',
      files: await second([LAST, LAST.replace('0.2', '0.5')]),
      most: MOST.last,
    },
    { name: 'all steps, by a param', files: of('{ params: { w_stock: 10 } }'), most: MOST.any },
    {
      name: 'all steps and reads, of a pipeline',
      files: await second(['  - item_stats\n', '  - own: item_stats(item)\n'], ['item_stats:f', 'own:f']),
      most: MOST.any,
    },
  ];
}

/** Ten experiments in layers of their own. The unit of the bench is in the share of none of them. */
function idle(): Case['files'] {
  const files = Array.from({ length: 10 }, (_, at) => [
    `experiments/idle_${at}.yaml`,
    experiment(`idle_${at}`, `{ params: { w_${at}: 1 } }`, 'share: 0.1%\n'),
  ]);
  return Object.fromEntries(files) as Case['files'];
}

/**
 * Measures what experiments cost, without HTTP, from the text of the body to the text of the answer: pages that
 * interleave two arms against one ranking, and ten experiments that a request takes no part in against none.
 * @param only measures the cases whose names contain it; undefined: all
 * @param candidates of a request; undefined: 100 and 1,000
 */
export async function experimentsBench(short: boolean, only?: string, candidates?: number): Promise<void> {
  const data = catalogue(short ? 2_000 : 4_000);
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  try {
    const plain = await pipelineOf('items', []);
    const [rows, idleRows]: [string[][], string[][]] = [[], []];
    const counts = candidates === undefined ? [100, 1000] : [candidates];
    const isMeasured = (name: string): boolean => only === undefined || name.includes(only);
    for (const one of (await cases()).filter(({ name }) => isMeasured(name))) {
      const own = one.files['pipelines/items.yaml'] ?? plain;
      const sides = [{ 'pipelines/items.yaml': own }, { 'pipelines/items.yaml': own, ...one.files }];
      for (const [count, pairs] of await compare(folder, data, sides, counts, one.isLogged === true, short)) {
        rows.push(told([one.name, ...summaryOf(count, pairs)]));
        const [mean] = differenceOf(pairs);
        if (mean > one.most) fail(`${one.name}, ${count} candidates: ${(100 * mean).toFixed(1)} % more`);
      }
    }
    const params = Array.from({ length: 10 }, (_, at) => `w_${at}: 0.5`).join(', ');
    const open = plain
      .replace('w_price: 0.001 }', `w_price: 0.001, ${params} }`)
      .replace(
        LAST,
        `'${LAST.slice(1, -1)} + ${Array.from({ length: 10 }, (_, at) => `w_${at}`).join(' + ')}'`,
      );
    const sides = [{ 'pipelines/items.yaml': open }, { 'pipelines/items.yaml': open, ...idle() }];
    const measured = isMeasured(IDLE) ? await compare(folder, data, sides, counts, false, short) : [];
    for (const [count, pairs] of measured) {
      idleRows.push(told([IDLE, ...summaryOf(count, pairs)]));
      const [, least] = differenceOf(pairs);
      if (least > MEASURABLE)
        fail(`ten experiments, ${count} candidates: at least ${(100 * least).toFixed(1)} % more`);
    }
    const print = (title: string, head: string[], found: string[][]): void => {
      if (found.length > 0) console.log(`\n${title}\n\n${table(['', ...head], found)}`);
    };
    print('Arms that differ in …', pairHead('one', 'both'), rows);
    print('Experiments that the request is not in', pairHead('none', 'ten'), idleRows);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The relative difference of the means of two sides, and the lower end of its 95 % interval. */
function differenceOf(pairs: readonly Pair[]): readonly [mean: number, least: number] {
  const logs = pairs.map(({ before, after }) => Math.log(after / before));
  const mean = logs.reduce((sum, one) => sum + one, 0) / logs.length;
  const variance = logs.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (logs.length - 1);
  return [Math.expm1(mean), Math.expm1(mean - 1.96 * Math.sqrt(variance / logs.length))];
}

async function compare(
  folder: string,
  data: Catalogue,
  sides: readonly Case['files'][],
  counts: readonly number[],
  isLogged: boolean,
  short: boolean,
): Promise<readonly (readonly [count: number, pairs: readonly Pair[]])[]> {
  const apps: App[] = [];
  try {
    for (const files of sides) apps.push(await open(folder, files, isLogged));
    for (const app of apps) await loadCatalogue(app, data);
    const [before, after] = apps;
    if (before === undefined || after === undefined) throw new Error('two projects are compared');
    const found: (readonly [number, readonly Pair[]])[] = [];
    for (const count of counts) {
      const bodies = Array.from({ length: 16 }, (_, seed) =>
        JSON.stringify({
          candidates: candidatesOf(data.items, count, seed),
          user: { user_id: USER },
          user_page_size: 24,
        }),
      );
      const requests = (count <= 100 ? 200 : 40) / (short ? 4 : 1);
      const block = async (app: App): Promise<number> => {
        const began = process.cpuUsage();
        for (let request = 0; request < requests; request++) await rank(app, bodies[request % 16] ?? '');
        const { user, system } = process.cpuUsage(began);
        return (user + system) / 1000 / requests;
      };
      for (let round = 0; round < (short ? 4 : 6); round++) for (const app of apps) await block(app);
      const pairs: Pair[] = [];
      for (let pair = 0; pair < (short ? 8 : 20); pair++) {
        const order = pair % 2 === 0 ? [before, after, after, before] : [after, before, before, after];
        const costs: number[] = [];
        for (const app of order) costs.push(await block(app));
        const [a = NaN, b = NaN, c = NaN, d = NaN] = costs;
        const [outer, inner] = [Math.sqrt(a * d), Math.sqrt(b * c)];
        pairs.push(pair % 2 === 0 ? { before: outer, after: inner } : { before: inner, after: outer });
      }
      found.push([count, pairs]);
    }
    return found;
  } finally {
    for (const app of apps) await app.close();
  }
}

let opened = 0;

async function open(folder: string, files: Case['files'], isLogged: boolean): Promise<App> {
  const root = join(folder, `project-${opened++}`);
  await cp(join(PROJECT, 'schemas'), join(root, 'schemas'), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const settings = loadSettings(
    { LOG_LEVEL: 'silent', MILLRACE_RESIDENT: 'all' },
    { project: root, store: 'embedded', dataDir: join(root, 'data') },
  );
  return createApp(settings, { experiments: true, ...(isLogged ? { ledger: memoryLedger().ledger } : {}) });
}

async function rank(app: App, text: string): Promise<void> {
  const pipeline = app.pipelines.find(({ name }) => name === 'items');
  if (pipeline === undefined) throw new Error('expected the pipeline of the bench');
  const { answer } = await pipeline.run(JSON.parse(text), { requestId: randomUUID() });
  JSON.stringify(answer);
  // A service writes the record of a request before it reads the next one. Without this, records wait for one another.
  await new Promise(setImmediate);
}

/** Shows a row at once, since the whole takes minutes. */
function told(row: string[]): string[] {
  console.error(row.join('  '));
  return row;
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
