import { rm } from 'node:fs/promises';
import { runTests, type RunOptions, type TestRun } from '../../runtime/cli/ranking-tests/run-tests.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { writeProject } from './project.js';

/** A shop with a pipeline that ranks products and one that scores a product. The file of the model does not exist. */
export const SHOP: Readonly<Record<string, string>> = {
  'schemas/entities/product.yaml': `entity: product
attributes:
  title: string
  price: float
  number_in_stock: int
  rating: float
  brand: ref(brand)
`,
  'schemas/entities/user.yaml': 'entity: user\nattributes: { favourite_brand: ref(brand) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string }\n',
  'schemas/features/product_stats.yaml': `view: product_stats
of: [product]
ttl: 7d
features:
  ctr_30d: float
  orders_30d: { type: int, default: 0 }
`,
  'pipelines/search.yaml': `pipeline: search
rank: product
request:
  candidates: { search_score: float }
  query: optional(query)
  user: optional(user)
  device: optional(string)
features: [product_stats]
define:
  in_stock: product.number_in_stock > 0
components:
  - use: filter
    as: priced
    with: { keep: product.price > 0, absent: keep }
  - use: lightgbm
    as: ltr
    with: { model: models/ltr.txt }
  - use: score
    with: { value: "ltr:score + coalesce(product_stats:ctr_30d, 0)" }
  - use: boost
    as: liked
    with: { where: product.rating > 4, multiply: 1.5 }
  - use: bury
    with: { where: product.number_in_stock <= 0 }
  - use: pin
    when: request.device != "kiosk"
    with: { positions: { 1: p9 } }
page: { size: 24, max_size: 100 }
`,
  'pipelines/worth.yaml': `pipeline: worth
score: product
request: { user: optional(user) }
answer: { dear: product.price > 10 }
components:
  - use: score
    with: { value: product.rating * 2 }
`,
};

const OPTIONS: RunOptions = {
  updates: false,
  writesMissing: false,
  covers: false,
  runs: 25,
  seed: 1,
  write: () => Promise.reject(new Error('nothing may be written')),
};

/** Runs the tests of a project from files, and removes it. @throws as runTests; Error if there is no test */
export async function runIn(
  files: Readonly<Record<string, string>>,
  options: Partial<RunOptions> = {},
): Promise<TestRun> {
  const root = await writeProject(files);
  try {
    return await runAt(root, options);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Runs the tests of a project that exists. */
export async function runAt(root: string, options: Partial<RunOptions> = {}): Promise<TestRun> {
  const settings = loadSettings({ LOG_LEVEL: 'silent' }, { project: root });
  const run = await runTests(settings, {}, { ...OPTIONS, ...options });
  if (run === undefined) throw new Error('there is no test');
  return run;
}

/** The failed cases: their names with the messages. */
export function failuresOf({ results }: TestRun): Record<string, readonly string[]> {
  return Object.fromEntries(
    results.flatMap(({ test, failures }) =>
      failures.length === 0 ? [] : [[test.name, failures.map(({ message }) => message)]],
    ),
  );
}
