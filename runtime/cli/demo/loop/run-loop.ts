import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startService } from '../../../serve/app/serve.js';
import { shuffled } from '../../../ground/core/shuffle.js';
import { ndcg } from '../../../learn/evaluation/metrics.js';
import type { Settings } from '../../../project/settings/settings.js';
import { CommandFailure } from '../../../project/config/diagnostics/failure.js';
import { HttpTarget } from '../../load/http-target.js';
import { renderTable } from '../../report/table.js';
import { narrow, runCommand } from './commands.js';
import type { Learning } from './learning.js';
import { PIPELINE, SCHEMAS } from './project.js';
import { RandomPages } from './propensities.js';
import { ShopClient } from './shop-client.js';
import { PAGE, Shoppers, type Search, type ShopProduct } from './shoppers.js';

interface LoopOptions {
  readonly seed: number;
  readonly learning: Learning;
  /** An empty folder. */
  readonly folder: string;
  /** Settings for a service with the embedded store; the folders and the port are set here. */
  readonly settings: Settings;
  /** The environment of the user; the commands do not get its settings. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly write: (text: string) => void;
}

export interface LoopResult {
  /** Mean NDCG@10 of the appeal of what was served, and of the best possible order. */
  readonly before: number;
  readonly learned: number;
  readonly best: number;
  /** The part of the way from before to the best that was learned. */
  readonly share: number;
  /** Whether the gate accepted what was learned. */
  readonly isDeployed: boolean;
}

/** Of the searches that are logged, one in so many is answered in a random order. */
const EXPLORES_EACH = 4;
/** Fresh searches that measure what shoppers get. */
const MEASURED = 400;
/** Measured searches have numbers of their own, the same before and after. */
const FIRST_MEASURED = 1_000_000;
const CLIENTS = 4;
/** Feedback that comes later than this after its ranking does not count. That of the demo comes at once. */
const WINDOW_MS = 2000;
/** Graded candidates of each query that is judged by people. */
const JUDGED_CANDIDATES = 24;
const RELOAD_WITHIN_MS = 10_000;

/**
 * The whole loop, once: serve with a log, collect clicks and orders, build a data set, learn, judge, deploy by a reload, and
 * measure again. Learning uses what a shop would know: the ledger, and the pages that it showed in a random order.
 */
export async function runLoop(given: LoopOptions): Promise<LoopResult> {
  const options = { ...given, write: narrow(given.write) };
  const { seed, learning, folder, write, settings } = options;
  const shop = new Shoppers(seed);
  const [live, desk] = [join(folder, 'live'), join(folder, 'desk')];
  await writeProject(live, PIPELINE);
  await writeProject(desk, learning.pipeline);
  await writeFile(join(folder, 'judgments.csv'), judgmentsOf(shop));
  await writeFile(
    join(folder, 'products.jsonl'),
    shop.products.map((one) => `${JSON.stringify(one)}\n`).join(''),
  );
  write(
    `A shop with ${shop.products.length} products, ${shop.users.length} shoppers and ${shop.queries.length} queries; seed ${seed}.\n` +
      'What shoppers like is hidden, and they look at the first places most.\n',
  );
  const dataDir = join(live, '.millrace');
  const service = await startService({
    ...settings,
    project: live,
    dataDir,
    ledgerDir: join(dataDir, 'ledger'),
    store: 'embedded',
    port: 0,
    reload: 'watch',
    reloadPollMs: 100,
    logLevel: 'silent',
  });
  const client = new ShopClient(service.url, shop);
  try {
    await load(shop, service.url);
    write(`\n1. Serve, and log what was served and what shoppers did\n\n`);
    const random = await collect(shop, client, learning.searches, write);
    await writeFile(join(folder, 'propensities.json'), `${JSON.stringify(random.propensities())}\n`);
    await pause(WINDOW_MS); // requests younger than the window are not joined
    const before = await measure(shop, client);
    await pause(500); // longer than the ledger takes to write

    write(`\n2. Join, ${learning.verb} and judge\n`);
    const run = (...argv: string[]): Promise<number> => runCommand(argv, options);
    const must = async (...argv: string[]): Promise<void> => {
      if ((await run(...argv)) !== 0) throw new CommandFailure(`millrace ${argv.join(' ')} failed`);
    };
    await must(
      ...['dataset', 'build', '--ledger', 'live/.millrace/ledger', '--out', 'data'],
      ...['--label', 'click=1,order=2', '--window', `${WINDOW_MS}ms`, '--split', 'hash:user:90%'],
    );
    await must(...learning.command);
    await must(
      ...['entities', 'load', 'product', 'products.jsonl', '--project', 'desk', '--store', 'embedded'],
    );
    const refused = await run(
      ...['evaluate', 'shop', '--against', './live', '--judgments', 'judgments.csv', '--metrics', 'ndcg@10'],
      ...[
        '--worst',
        '0',
        '--require',
        'lower(delta.ndcg@10) > 0',
        '--project',
        'desk',
        '--store',
        'embedded',
      ],
    );
    const isDeployed = refused === 0;
    write('\n3. Deploy\n\n');
    if (isDeployed) await deploy(learning.deployed, desk, live, client, write);
    else write('The gate does not accept the change, so the pipeline stays as it is.\n');
    const after = await measure(shop, client);

    write('\n4. Measure what shoppers get\n\n');
    const result = { ...compare(before.ndcg, after.ndcg), isDeployed };
    write(resultText(result, before, after));
    return result;
  } finally {
    await client.close();
    await service.close();
  }
}

async function writeProject(project: string, pipeline: string): Promise<void> {
  const files = { ...SCHEMAS, 'pipelines/shop.yaml': pipeline };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text);
  }
}

async function load(shop: Shoppers, url: string): Promise<void> {
  const target = new HttpTarget(url);
  const rows = (items: readonly ShopProduct[] | Shoppers['users']): Parameters<HttpTarget['upload']>[2] =>
    items.map((value, at) => ({ line: at + 1, value, bytes: 0 }));
  await target.upload('product', undefined, rows(shop.products));
  await target.upload('user', undefined, rows(shop.users));
  await target.close();
}

/** Grades of people for candidates of each query. They serve to judge a change, and not to learn. */
function judgmentsOf(shop: Shoppers): string {
  const rows = shop.queries.flatMap((query, at) =>
    shuffled(shop.found(query), at)
      .slice(0, JUDGED_CANDIDATES)
      .map((product) => `${query.text},${product.product_id},${shop.grade(query, product)}\n`),
  );
  return `query,product_id,grade\n${rows.join('')}`;
}

/** Searches, a few at a time; the order of their ends does not matter. */
async function eachSearch(
  shop: Shoppers,
  from: number,
  count: number,
  visit: (search: Search, number: number) => Promise<void>,
): Promise<void> {
  let next = from;
  const work = async (): Promise<void> => {
    for (let number = next++; number < from + count; number = next++)
      await visit(shop.search(number), number);
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
}

async function collect(
  shop: Shoppers,
  client: ShopClient,
  searches: number,
  write: LoopOptions['write'],
): Promise<RandomPages> {
  const random = new RandomPages();
  let [clicks, orders] = [0, 0];
  const started = performance.now();
  await eachSearch(shop, 1, searches, async (search, number) => {
    const explores = number % EXPLORES_EACH === 0;
    const visit = shop.visit(search, await client.search(search, explores), number);
    if (explores) random.add(visit);
    clicks += visit.clicked.length;
    orders += visit.ordered.length;
    await client.sendFeedback(search, visit);
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  write(
    `${searches.toLocaleString('en')} searches in ${seconds} s, ${random.pages} of them in a random order; ` +
      `${clicks} clicks, ${orders} orders\n`,
  );
  return random;
}

/** What shoppers get: a page is good if it has what appeals to its shopper at the top. */
interface Measured {
  readonly ndcg: number;
  /** Clicks of a page. */
  readonly clicks: number;
  /** Clicks of a page in the best possible order. */
  readonly most: number;
}

async function measure(shop: Shoppers, client: ShopClient): Promise<Measured> {
  let [sum, clicks, most] = [0, 0, 0];
  await eachSearch(shop, FIRST_MEASURED, MEASURED, async (search, number) => {
    const page = await client.search(search, false);
    const best = [...search.candidates].sort((a, b) => shop.appeal(search, b) - shop.appeal(search, a));
    const appeal = (product: ShopProduct): number => shop.appeal(search, product);
    const ranking = { ranked: page.map(appeal), ideal: best.map(appeal) };
    sum += ndcg(ranking, PAGE, { gain: 'linear', relevant: 1, maxGrade: 1 }) ?? 0;
    clicks += shop.visit(search, page, number).clicked.length;
    most += shop.visit(search, best, number).clicked.length;
  });
  return { ndcg: sum / MEASURED, clicks: clicks / MEASURED, most: most / MEASURED };
}

function compare(before: number, learned: number): Omit<LoopResult, 'isDeployed'> {
  const best = 1;
  return { before, learned, best, share: (learned - before) / (best - before) };
}

/** Copies files from desk to live, the pipeline last, and waits until the service has it. */
async function deploy(
  files: readonly string[],
  desk: string,
  live: string,
  client: ShopClient,
  write: LoopOptions['write'],
): Promise<void> {
  const version = await client.projectVersion();
  const started = performance.now();
  for (const file of files) {
    await mkdir(dirname(join(live, file)), { recursive: true });
    await copyFile(join(desk, file), join(live, file));
  }
  while ((await client.projectVersion()) === version) {
    if (performance.now() - started > RELOAD_WITHIN_MS)
      throw new CommandFailure('the service did not reload the changed pipeline');
    await pause(20);
  }
  const ms = Math.round(performance.now() - started);
  const copied = files.map((file) => `desk/${file}`).join(' and ');
  write(`Copied ${copied} to live/; the service reloaded the project after ${ms} ms.\n`);
}

function resultText({ before, learned, best, share }: LoopResult, first: Measured, second: Measured): string {
  const row = (name: string, value: number, clicks: number): string[] => [
    name,
    value.toFixed(3),
    clicks.toFixed(2),
  ];
  return (
    renderTable({ '': 'left', 'ndcg@10': 'right', 'clicks a page': 'right' }, [
      row('before', before, first.clicks),
      row('learned', learned, second.clicks),
      row('best possible', best, first.most),
    ]) + `\n(learned − before) / (best possible − before) = ${share.toFixed(2)}\n`
  );
}
