/**
 * Ranks the test set of LightGBM's own example with the model that train-lambdarank.py trains, by `millrace evaluate`,
 * and compares NDCG with LightGBM's own: `node dist/test/acceptance/lambdarank.js --model MODEL.txt --data FOLDER`.
 * The folder contains rank.test and rank.test.query; MODEL.txt.json holds LightGBM's values. The run fails if a value
 * differs in its first five digits.
 */
import { copyFile, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '../../bench/support/measure.js';
import { millrace } from '../support/command-line.js';
import { writeProject } from '../support/project.js';

const TOLERANCE = 5e-6;

/** The files of a project that ranks with the model. */
async function projectOf(model: string): Promise<Record<string, string>> {
  const [, most] = /^max_feature_idx=(\d+)$/m.exec(await readFile(model, 'utf8')) ?? [];
  const columns = Array.from({ length: Number(most) + 1 }, (_, column) => column);
  const attributes = columns.map((column) => `  f${column}: float\n`).join('');
  const inputs = columns.map((column) => `        - product.f${column}\n`).join('');
  return {
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
`,
  };
}

const { values } = parseArgs({ options: { model: { type: 'string' }, data: { type: 'string' } } });
if (values.model === undefined || values.data === undefined)
  throw new Error('pass --model, a file of train-lambdarank.py, and --data, the folder with rank.test');
const expected = JSON.parse(await readFile(`${values.model}.json`, 'utf8')) as Readonly<
  Record<string, number>
>;
const root = await writeProject(await projectOf(values.model));
try {
  await mkdir(join(root, 'models'));
  await copyFile(values.model, join(root, 'models', 'ranker.txt'));
  const { stdout, stderr, code } = await millrace([
    'evaluate',
    'ranking',
    ...[
      '--judgments',
      join(values.data, 'rank.test'),
      '--format',
      'libsvm',
      '--shuffles',
      '0',
      '--empty',
      '1',
    ],
    ...['--metrics', Object.keys(expected).join(','), '--json', '--project', root, '--store', 'embedded'],
  ]);
  if (code !== 0) throw new Error(stderr);
  const { metrics, candidates, queries } = JSON.parse(stdout) as {
    readonly metrics: readonly { readonly metric: string; readonly mean: number }[];
    readonly candidates: number;
    readonly queries: number;
  };
  const rows = metrics.map(({ metric, mean }) => ({ metric, theirs: expected[metric] ?? NaN, ours: mean }));
  console.log(`${queries} queries, ${candidates} documents`);
  console.log(
    table(
      ['metric', 'LightGBM', 'Millrace'],
      rows.map(({ metric, theirs, ours }) => [metric, theirs.toFixed(6), ours.toFixed(6)]),
    ),
  );
  const wrong = rows.filter(({ theirs, ours }) => !(Math.abs(ours - theirs) < TOLERANCE));
  if (rows.length === 0 || wrong.length > 0)
    throw new Error(`NDCG differs: ${wrong.map(({ metric }) => metric).join(', ')}`);
} finally {
  await rm(root, { recursive: true, force: true });
}
