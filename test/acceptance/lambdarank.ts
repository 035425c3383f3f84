/**
 * Ranks the test set of LightGBM's own example through a pipeline, with the model that train-lambdarank.py trains,
 * and compares NDCG with LightGBM's own result:
 * `node dist/test/acceptance/lambdarank.js --model MODEL.txt --data FOLDER`. The folder contains rank.test and
 * rank.test.query. The run fails if a value differs by 5e-4 or more.
 */
import { copyFile, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createApp } from '../../runtime/app/app.js';
import { loadSettings } from '../../runtime/settings/settings.js';
import { table } from '../../bench/support/measure.js';
import { ndcg } from '../support/ndcg.js';
import { idsOf, rankedIn, writeProject } from '../support/project.js';

/** NDCG of LightGBM after 100 rounds of its example configuration, seed 1. */
const EXPECTED: ReadonlyMap<number, number> = new Map([
  [1, 0.62],
  [3, 0.618],
  [5, 0.6655],
]);
const TOLERANCE = 5e-4;

interface Document {
  readonly grade: number;
  /** By column. LightGBM reads an absent column as 0. */
  readonly features: ReadonlyMap<number, number>;
}

/** Reads the lines of a LibSVM file. */
async function readDocuments(path: string): Promise<Document[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [grade, ...cells] = line.trim().split(/\s+/);
    const features = cells.map((cell): [number, number] => {
      const [column, value] = cell.split(':').map(Number);
      return [column ?? NaN, value ?? NaN];
    });
    return { grade: Number(grade), features: new Map(features) };
  });
}

/** Reads the sizes of the queries, in the order of their documents. */
async function readQueries(path: string): Promise<number[]> {
  return (await readFile(path, 'utf8')).split('\n').filter(Boolean).map(Number);
}

/** Creates a project that ranks with the model. Columns without a value are passed as 0. */
async function projectOf(model: string): Promise<string> {
  const [, most] = /^max_feature_idx=(\d+)$/m.exec(await readFile(model, 'utf8')) ?? [];
  const columns = Array.from({ length: Number(most) + 1 }, (_, column) => column);
  const attributes = columns.map((column) => `  f${column}: float\n`).join('');
  const inputs = columns.map((column) => `        - coalesce(product.f${column}, 0)\n`).join('');
  const root = await writeProject({
    'schemas/entities/product.yaml': `entity: product\nextends: ProductEntity\nattributes:\n${attributes}`,
    'pipelines/ranking.yaml': `pipeline: ranking
rank: product
components:
  - use: lightgbm
    as: ltr
    with:
      model: models/ranker.txt
      inputs:
${inputs}  - use: score
    with: { value: ltr:score }
page: { size: 1000, max_size: 1000 }
`,
  });
  await mkdir(join(root, 'models'));
  await copyFile(model, join(root, 'models', 'ranker.txt'));
  return root;
}

/** Returns the grades of each query's documents, in ranked order. */
async function rankQueries(root: string, documents: readonly Document[], sizes: readonly number[]) {
  const settings = loadSettings({ LOG_LEVEL: 'silent', MILLRACE_STORE: 'embedded' }, { project: root });
  const app = await createApp(settings);
  try {
    const [pipeline] = app.pipelines;
    if (pipeline === undefined) throw new Error('expected a pipeline in the project');
    const ranked: number[][] = [];
    let first = 0;
    for (const size of sizes) {
      const ofQuery = documents.slice(first, (first += size));
      const candidates = ofQuery.map(({ features }, i) => ({
        product_id: String(i),
        ...Object.fromEntries([...features].map(([column, value]) => [`f${column}`, value])),
      }));
      const { answer } = await pipeline.run({ candidates }, { requestId: String(first) });
      ranked.push(idsOf(rankedIn(answer)).map((id) => ofQuery[Number(id)]?.grade ?? NaN));
    }
    if (first !== documents.length)
      throw new Error(`${first} documents in queries, but ${documents.length} in all`);
    return ranked;
  } finally {
    await app.close();
  }
}

/** Returns the mean as LightGBM computes it: a query without a relevant document counts as 1. */
function mean(rankings: readonly (readonly number[])[], k: number): number {
  const values = rankings.map((grades) => (grades.some((grade) => grade > 0) ? ndcg(grades, k) : 1));
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

const { values } = parseArgs({ options: { model: { type: 'string' }, data: { type: 'string' } } });
if (values.model === undefined || values.data === undefined)
  throw new Error('pass --model, a file of train-lambdarank.py, and --data, the folder with rank.test');
const documents = await readDocuments(join(values.data, 'rank.test'));
const sizes = await readQueries(join(values.data, 'rank.test.query'));
const root = await projectOf(values.model);
try {
  const rankings = await rankQueries(root, documents, sizes);
  const rows = [...EXPECTED].map(([k, expected]) => ({ k, expected, ours: mean(rankings, k) }));
  console.log(`${sizes.length} queries, ${documents.length} documents`);
  console.log(
    table(
      ['NDCG', 'LightGBM', 'Millrace'],
      rows.map(({ k, expected, ours }) => [`@${k}`, expected.toFixed(4), ours.toFixed(4)]),
    ),
  );
  const wrong = rows.filter(({ expected, ours }) => !(Math.abs(ours - expected) < TOLERANCE));
  if (wrong.length > 0) throw new Error(`NDCG differs at ${wrong.map(({ k }) => k).join(', ')}`);
} finally {
  await rm(root, { recursive: true, force: true });
}
