import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import { Random } from '../../runtime/ground/core/random.js';
import { Replay } from '../../runtime/request/pipeline/log/replay.js';
import { memoryLedger } from '../support/memory-ledger.js';
import { startProject, type TestProject } from '../support/project.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';

const REQUESTS = 10_000;
const SHORT_REQUESTS = 2_000;
const PRODUCTS = 400;
const USERS = 50;
const NOW = Date.parse('2026-03-01T12:00:00Z');
const DAY = 24 * 3600_000;

const SCHEMAS = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes:
  title: string
  price: float
  added: timestamp
  tags: list(string)
  brand: ref(brand)
  embedding: vector(3)
  variants: { list: { size: int, maker: ref(brand) } }
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string, quality: float }\n',
  'schemas/entities/user.yaml': `entity: user
attributes: { favourite_brand: ref(brand), taste: vector(3), age: int }
`,
  'schemas/features/stats.yaml': `view: stats
of: [product]
ttl: 7d
features: { ctr: float, sales: { type: int, default: 3 } }
`,
  'schemas/features/brand_stats.yaml': `view: brand_stats
of: [brand]
ttl: 2d
expired: stale
features: { heat: float }
`,
  'schemas/features/liking.yaml': 'view: liking\nof: [user, brand]\nfeatures: { clicks: int }\n',
};

/** Each step that reads something else, and each way to change the order. */
const PIPELINES = {
  'pipelines/search.yaml': `pipeline: search
rank: product
request:
  candidates: { text: float }
  query: query
  user: optional(user)
  device: optional(string)
features:
  - stats
  - heat: brand_stats(product.brand)
  - liking: liking(user, product.brand)
params: { w_sales: { value: 0.1, min: 0, max: 1 } }
define:
  loved: product.brand == user.favourite_brand
  fresh: product.added > now() - days(30)
components:
  - { use: filter, with: { keep: "product.price > 5 or not known(product.price)" } }
  - { use: text_match, as: title, with: { query: query.query, field: product.title } }
  - { use: similarity, as: near, with: { vectors: [user.taste, product.embedding] } }
  - use: linear
    as: ltr
    with:
      weights:
        title:bm25: 1
        stats:ctr: { weight: 20, missing: 0.1 }
        "log1p(stats:sales)": w_sales
        heat:heat: 0.5
        near:cosine: 0.7
        liking:clicks: { weight: 0.3, missing: 0 }
        max(product.variants.size): { weight: 0.01, missing: 0 }
        mean(product.variants.maker.quality): { weight: 0.2, missing: 0 }
  - { use: score, with: { value: "ltr:score + coalesce(product.text, 0)" } }
  - { use: boost, with: { where: loved, multiply: 1.3 } }
  - { use: boost, top: 20, with: { where: fresh, add: 0.25 } }
  - { use: bury, when: request.device != "kiosk", with: { where: '"old" in product.tags' } }
  - { use: pin, when: known(user.age), with: { positions: { 1: p7, 3: p11 } } }
page: { size: 10 }
log: { candidates: all, features: all }
`,
  'pipelines/risk.yaml': `pipeline: risk
score: product
request: { user: optional(user) }
features: [stats]
components:
  - { use: score, with: { value: "product.price * coalesce(stats:ctr, 0.5) + coalesce(user.age, 30) / 100" } }
answer: { dear: product.price > 50 }
log: { features: all }
`,
};

/** Shows that what was logged whole gives the same order and scores again. */
export const replay: Proof = {
  name: 'replay',
  page: 'ledger.md',
  summary: 'requests that were logged whole, run again from their records: the same order and scores',
  run: prove,
};

async function prove({ short }: ProofOptions): Promise<ProofResult> {
  const wanted = short ? SHORT_REQUESTS : REQUESTS;
  const random = new Random(14);
  const { ledger, records } = memoryLedger();
  const project = await startProject({ ...SCHEMAS, ...PIPELINES }, { now: () => NOW, ledger });
  try {
    await fill(project, random);
    for (let n = 0; n < wanted; n++) {
      const [name, body] = n % 10 === 0 ? ['risk', scoreBody(random)] : ['search', rankBody(random)];
      await project.app.pipelines
        .find((pipeline) => pipeline.name === name)
        ?.run(body, { requestId: `r${n}` });
      // The values in the store change between the requests, and must not matter.
      if (n % 50 === 0) await project.push('stats', statsOf(random.between(0, PRODUCTS - 1), random));
    }
    const logged = await records();
    const compiled = await compileProject(project.root);
    const again = new Replay(compiled.pipelines);
    const tally = { replayed: 0, candidates: 0, different: 0 };
    const missed: string[] = [];
    for (const record of logged) {
      const outcome = await again.run(record);
      if (outcome.kind !== 'replayed') {
        missed.push(`a request was not replayed: ${outcome.reason}`);
        continue;
      }
      tally.replayed++;
      tally.candidates += outcome.candidates;
      tally.different += outcome.differences.length;
    }
    await compiled.close();
    if (logged.length !== wanted) missed.push(`${logged.length} of ${wanted} requests were logged`);
    if (tally.different > 0) missed.push(`${tally.different} candidates have another place or score`);
    const bytes = logged.reduce((sum, { frame }) => sum + frame.length, 0);
    return { markdown: markdownOf(tally, bytes), missed: [...new Set(missed)] };
  } finally {
    await project.close();
  }
}

function markdownOf(
  { replayed, candidates, different }: Record<'replayed' | 'candidates' | 'different', number>,
  bytes: number,
): string {
  const shown = (value: number): string => value.toLocaleString('en');
  return [
    '| requests replayed | candidates | with another place or score | bytes a candidate |',
    '| ----------------: | ---------: | --------------------------: | ----------------: |',
    `| ${shown(replayed)} | ${shown(candidates)} | ${shown(different)} | ${shown(Math.round(bytes / candidates))} |`,
  ].join('\n');
}

async function fill(project: TestProject, random: Random): Promise<void> {
  const brands = Array.from({ length: 20 }, (_, n) => `b${n}`);
  await project.upload(
    'brand',
    ...brands.map((brand_id) => ({ brand_id, name: `brand ${brand_id}`, quality: random.next() })),
  );
  await project.upload('user', ...Array.from({ length: USERS }, (_, n) => userOf(n, random)));
  await project.upload('product', ...Array.from({ length: PRODUCTS }, (_, n) => productOf(n, random)));
  await project.push('stats', ...Array.from({ length: PRODUCTS - 50 }, (_, n) => statsOf(n, random)));
  await project.push(
    'brand_stats',
    ...brands.map((brand_id) => ({ brand_id, heat: random.next(), event_time: someTime(random, 4) })),
  );
  await project.push(
    'liking',
    ...brands.flatMap((brand_id) =>
      Array.from({ length: 20 }, (_, n) => ({ user_id: `u${n}`, brand_id, clicks: random.between(0, 9) })),
    ),
  );
}

function productOf(n: number, random: Random): object {
  return {
    product_id: `p${n}`,
    title: words(random),
    price: random.chance(0.1) ? null : random.next() * 100,
    added: someTime(random, 90),
    tags: random.chance(0.3) ? ['old'] : random.chance(0.5) ? [] : ['new', 'été'],
    brand: `b${random.between(0, 24)}`,
    ...(random.chance(0.8) ? { embedding: vector(random) } : {}),
    variants: Array.from({ length: random.between(0, 3) }, () => ({
      size: random.between(30, 50),
      maker: `b${random.between(0, 19)}`,
    })),
  };
}

function userOf(n: number, random: Random): object {
  return {
    user_id: `u${n}`,
    favourite_brand: `b${random.between(0, 19)}`,
    ...(random.chance(0.8) ? { taste: vector(random) } : {}),
    ...(random.chance(0.5) ? { age: random.between(18, 80) } : {}),
  };
}

function statsOf(n: number, random: Random): object {
  return {
    product_id: `p${n}`,
    ...(random.chance(0.8) ? { ctr: random.next() } : {}),
    ...(random.chance(0.7) ? { sales: random.between(0, 100) } : {}),
    event_time: someTime(random, 10),
  };
}

function rankBody(random: Random): object {
  const ids = new Set(Array.from({ length: random.between(1, 60) }, () => random.between(0, PRODUCTS + 20)));
  return {
    query: { query: random.chance(0.05) ? '' : words(random) },
    ...(random.chance(0.8) ? { user: { user_id: `u${random.between(0, USERS + 5)}` } } : {}),
    ...(random.chance(0.5) ? { device: random.pick(['kiosk', 'phone']) } : {}),
    candidates: Array.from(ids, (id) => ({
      product_id: `p${id}`,
      ...(random.chance(0.9) ? { text: random.next() } : {}),
      ...(random.chance(0.1) ? { price: random.next() * 20 } : {}),
    })),
    user_page: random.between(0, 2),
  };
}

function scoreBody(random: Random): object {
  return {
    product: { product_id: `p${random.between(0, PRODUCTS + 20)}` },
    ...(random.chance(0.5) ? { user: { user_id: `u${random.between(0, USERS)}` } } : {}),
  };
}

const words = (random: Random): string =>
  Array.from({ length: random.between(1, 4) }, () =>
    random.pick(['red', 'blue', 'shoe', 'hat', 'running', 'straße', '大']),
  ).join(' ');

/** The first elements fit into float32, the last does not. */
const vector = (random: Random): number[] => [random.between(-4, 4), 0.5, random.next()];

const someTime = (random: Random, days: number): string =>
  new Date(NOW - Math.floor(random.next() * days * DAY)).toISOString();
