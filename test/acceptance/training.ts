/**
 * The exactness of the loop: rankings are served and logged, joined into a data set, a model is trained and served, and its
 * rankings are logged and exported again. The library's score of the exported columns must be the logged score, exactly:
 * `node dist/test/acceptance/training.js --python PYTHON`. Python needs lightgbm, pandas and pyarrow, and perhaps xgboost.
 */
import { execFileSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startService } from '../../runtime/serve/app/serve.js';
import { Random } from '../../runtime/ground/core/random.js';
import { readRecords } from '../../runtime/state/ledger/record-reader.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { millrace } from '../support/command-line.js';
import { writeProject } from '../support/project.js';
import { repositoryPath } from '../support/repository.js';

const REQUESTS = 400;
const WINDOW_MS = 1000;
const PRODUCTS = 300;
const CANDIDATES = 20;
const BRANDS = ['acme', 'Br"uck, Sons', 'zen', 'north', 'lumen'];

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, brand: string, on_sale: bool, stock: int }\n',
  'schemas/features/stats.yaml':
    'view: stats\nof: [product]\nfeatures: { ctr: float, orders: { type: int, default: 0 } }\n',
};
const HEAD = `pipeline: search
rank: product
request: { candidates: { upstream: float }, device: optional(string) }
features: [stats]
define:
  margin: product.price - 0.3 * stats:orders
components:
`;
const LOG = (features: string): string => `log: { candidates: all, features: ${features} }\n`;
/** Serves before there is a model, and logs what the model will read. */
const FIRST = `${HEAD}  - use: score
    with: { value: 'coalesce(margin, 0) + stats:orders' }
${LOG('[product.price, product.brand, product.on_sale, product.upstream, product.stock, stats, margin, request.device]')}`;
const MODEL_FILES = { lightgbm: 'ltr.txt', xgboost: 'ltr.json' };
type Library = keyof typeof MODEL_FILES;
const TRAINED = (library: Library): string => `${HEAD}  - use: ${library}
    as: ltr
    with:
      model: models/${MODEL_FILES[library]}
      inputs:
        price: product.price
        brand: product.brand
        sale: product.on_sale
        ctr: stats:ctr
        margin: margin
        upstream: log1p(product.upstream)
        device: request.device
  - use: filter
    with: { keep: product.stock > 0 }
  - use: score
    with: { value: ltr:score }
  - use: boost
    with: { where: product.on_sale, multiply: 1.2 }
${LOG('[models, product.on_sale]')}`;
/** The column of the data set that each column of the model is. */
const COLUMNS = {
  price: 'product.price',
  brand: 'product.brand',
  sale: 'product.on_sale',
  ctr: 'stats:ctr',
  margin: 'margin',
  upstream: 'ltr:with.inputs.upstream',
  device: 'request.device',
};

const { values } = parseArgs({ options: { python: { type: 'string', default: 'python3' } } });
const root = await writeProject({ ...FILES, 'pipelines/search.yaml': FIRST });
const random = new Random(11);
try {
  await serve('first', true);
  await build('first');
  for (const library of ['lightgbm', 'xgboost'] as const) await exact(library);
} finally {
  await rm(root, { recursive: true, force: true });
}

/** Trains with a library, serves, exports and compares. */
async function exact(library: Library): Promise<void> {
  if (!hasPackage(library)) {
    console.log(`${library} is not installed for ${values.python}: it is not compared`);
    return;
  }
  await writeFile(join(root, 'pipelines/search.yaml'), TRAINED(library));
  const model = join(root, 'models', MODEL_FILES[library]);
  console.log(
    await run(
      ...[
        'train',
        'search:ltr',
        '--data',
        join(root, 'data-first'),
        '--out',
        model,
        '--python',
        values.python,
      ],
      ...['--rounds', '60', '--early-stopping', '0', '--param', 'min_data_in_leaf=5', '--threads', '1'],
    ),
  );
  await serve(library, false);
  await build(library);
  const out = join(root, `${library}.jsonl`);
  const told = execFileSync(
    values.python,
    [
      repositoryPath('test/acceptance/score_exported.py'),
      ...[
        library,
        model,
        join(root, 'data-first'),
        join(root, `data-${library}`),
        JSON.stringify(COLUMNS),
        out,
      ],
    ],
    { encoding: 'utf8' },
  );
  const logged = await loggedScores(library);
  let difference = 0;
  let compared = 0;
  const different = new Set<number>();
  for (const line of (await readFile(out, 'utf8')).trim().split('\n')) {
    const [request, candidate, score] = JSON.parse(line) as [string, string, number];
    const served = logged.get(`${request} ${candidate}`);
    if (served === undefined) throw new Error(`${request} ${candidate} is not in the ledger`);
    difference = Math.max(difference, Math.abs(served - score));
    compared += 1;
    different.add(score);
  }
  console.log(
    `${library}: ${told.trim()}; ${compared} logged scores and the library's differ by ${difference} at most`,
  );
  // A model that learned nothing would agree with anything.
  if (different.size < 50) throw new Error(`the model has only ${different.size} scores`);
  if (compared < REQUESTS || difference !== 0) throw new Error('the scores are not the same');
}

/** Serves rankings into a ledger of its own; users click, if asked. */
async function serve(name: string, isFirst: boolean): Promise<void> {
  const settings = loadSettings(
    {
      LOG_LEVEL: 'silent',
      MILLRACE_STORE: 'embedded',
      MILLRACE_DATA_DIR: join(root, 'data'),
      MILLRACE_LEDGER_DIR: join(root, `ledger-${name}`),
      PORT: '0',
    },
    { project: root },
  );
  const service = await startService(settings);
  const post = async (path: string, body: unknown): Promise<unknown> => {
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  try {
    if (isFirst) await load(post);
    const rank = async (request: string): Promise<readonly { readonly candidate_id: string }[]> => {
      const first = random.between(0, PRODUCTS - 1);
      const { ranked_candidates: ranked } = (await post('/api/v1/search', {
        request_id: request,
        ...(random.chance(0.7) ? { device: random.chance(0.5) ? 'app' : 'web' } : {}),
        candidates: Array.from({ length: CANDIDATES }, (_, i) => ({
          product_id: `p${(first + 7 * i) % PRODUCTS}`,
          ...(random.chance(0.8) ? { upstream: random.next() * 10 } : {}),
        })),
      })) as { readonly ranked_candidates: readonly { readonly candidate_id: string }[] };
      return ranked;
    };
    for (let at = 0; at < REQUESTS; at++) {
      const request = `${name}-${at}`;
      const ranked = await rank(request);
      const clicked = ranked.filter(({ candidate_id: id }) =>
        random.chance(Number(id.slice(1)) % 3 === 0 ? 0.5 : 0.05),
      );
      if (clicked.length > 0)
        await post('/api/v1/feedback', {
          request_id: request,
          user: { user_id: `u${at % 50}` },
          events: clicked.map(({ candidate_id: id }) => ({ type: 'click', product: { product_id: id } })),
        });
    }
    // The age of a ranking counts from the newest one: with this one, all of the others are older than the window.
    await pause(WINDOW_MS + 100);
    await rank(`${name}-last`);
  } finally {
    await service.close();
  }
}

async function load(post: (path: string, body: unknown) => Promise<unknown>): Promise<void> {
  const products = Array.from({ length: PRODUCTS }, (_, at) => ({
    product_id: `p${at}`,
    ...(random.chance(0.85) ? { price: Math.round(random.next() * 1e4) / 100 } : {}),
    ...(random.chance(0.9) ? { brand: BRANDS[at % 3 === 0 ? 0 : random.between(0, 4)] } : {}),
    ...(random.chance(0.8) ? { on_sale: random.chance(0.3) } : {}),
    stock: random.between(0, 5),
  }));
  await post('/api/v1/entities/upload', { entity_type: 'product', entities: products });
  await post('/api/v1/features/push', {
    view: 'stats',
    rows: products
      .filter((_, at) => at % 5 !== 0)
      .map(({ product_id: id }) => ({ product_id: id, ctr: random.next(), orders: random.between(0, 90) })),
  });
}

async function build(name: string): Promise<void> {
  console.log(
    await run(
      ...['dataset', 'build', '--ledger', join(root, `ledger-${name}`), '--out', join(root, `data-${name}`)],
      ...['--window', `${WINDOW_MS / 1000}s`, '--gap', '0s', '--split', 'time:75%'],
    ),
  );
}

async function run(...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await millrace([...argv, '--project', root], {
    env: { PATH: process.env.PATH ?? '' },
  });
  if (code !== 0) throw new Error(`millrace ${argv.join(' ')}\n${stderr}`);
  return stdout.trim();
}

/** By request and candidate: the score before the rules. */
async function loggedScores(name: string): Promise<ReadonlyMap<string, number>> {
  const scores = new Map<string, number>();
  for await (const record of readRecords(join(root, `ledger-${name}`))) {
    if (record.kind !== 'ranking') continue;
    const request = String(record.field('request_id')?.at(0));
    const [ids, base] = [record.field('candidate_id'), record.field('base_score')];
    for (let row = 0; row < (ids?.length ?? 0); row++) {
      const score = base?.at(row);
      if (typeof score === 'number') scores.set(`${request} ${String(ids?.at(row))}`, score);
    }
  }
  return scores;
}

function hasPackage(name: string): boolean {
  try {
    execFileSync(values.python, ['-c', `import ${name}, pandas, pyarrow`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
