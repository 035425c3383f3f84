/**
 * Builds data sets of a synthetic ledger with late, repeated and orphaned feedback, visitors without a user, histories and
 * pages, and compares each row by row with what DuckDB and Spark make of the SQL of `dataset build --sql`:
 * `node dist/test/acceptance/data-set-sql.js --python PYTHON [--spark PYTHON] [--rankings 200000]`. The first Python has the
 * package duckdb, the second one pyspark; Spark needs Java.
 */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeSyntheticLedger } from '../../bench/dataset/synthetic-ledger.js';
import { buildDataSet } from '../../runtime/learn/dataset/build-data-set.js';
import { compactLedger } from '../../runtime/learn/dataset/compact/compact.js';
import { joinSql, type SqlOptions, type SqlView } from '../../runtime/learn/dataset/join-sql.js';
import { DAY, MILLION, type DataSetOptions } from '../../runtime/learn/dataset/options.js';
import { SQL_DIALECTS } from '../../runtime/learn/dataset/sql-dialects.js';
import { repositoryPath } from '../support/repository.js';

const COMPARE = repositoryPath('test/acceptance/data_set_equal.py');
const RUN = repositoryPath('test/acceptance/run_sql.py');

const LONG_AGO = new Date(Date.now() - DAY);

const BASE = {
  pipeline: 'search',
  label: new Map([
    ['click', 1],
    ['order', 3],
  ]),
  attribute: [{ event: 'order', window: 10 * 60_000 }],
  window: DAY,
  examined: { rule: 'page' },
  split: { by: 'time', train: 0.8 * MILLION },
  gap: DAY,
  since: -Infinity,
  until: Infinity,
  add: [],
} as const satisfies DataSetOptions;

const VIEWS: readonly SqlView[] = [
  {
    view: 'brand_stats',
    keys: [{ column: 'product.brand' }],
    features: [
      { name: 'ctr', isText: false },
      { name: 'tier', isText: true },
    ],
  },
  { view: 'product_stats', keys: ['candidate'], features: [{ name: 'stock', isText: false }] },
  { view: 'user_stats', keys: [{ entity: 'user' }], features: [{ name: 'visits', isText: false }] },
];

const CASES: readonly (readonly [string, SqlOptions])[] = [
  [
    'split by time, examined by page, histories of brands, products and users',
    {
      ...BASE,
      views: VIEWS,
      add: VIEWS.flatMap(({ view, features }) => features.map(({ name }) => ({ view, feature: name }))),
    },
  ],
  [
    'split by user, examined down to the last click',
    {
      ...BASE,
      split: { by: 'hash', type: 'user', train: 0.7 * MILLION },
      examined: { rule: 'last_click', further: 2 },
      since: Date.UTC(2026, 9, 5),
      until: Date.UTC(2026, 9, 25),
      views: [],
    },
  ],
];

const { values } = parseArgs({
  options: {
    python: { type: 'string' },
    spark: { type: 'string' },
    rankings: { type: 'string', default: '200000' },
  },
});
const { python, spark } = values;
if (python === undefined) throw new Error('pass --python, a Python with the package duckdb');
const folder = await mkdtemp(join(tmpdir(), 'millrace-acceptance-'));
try {
  const ledger = join(folder, 'ledger');
  const compacted = join(folder, 'compacted');
  writeSyntheticLedger(ledger, Number(values.rankings), 24);
  // A segment that was not written to for a day is closed, also the last one.
  for (const name of await readdir(ledger)) await utimes(join(ledger, name), LONG_AGO, LONG_AGO);
  await compactLedger(ledger, compacted);
  for (const [at, [name, options]] of CASES.entries()) {
    const { manifest } = await buildDataSet(ledger, join(folder, `set-${at}`), 'parquet', options);
    console.log(`${name}: ${JSON.stringify(manifest.attribution)}`);
  }
  const engines: Record<keyof typeof SQL_DIALECTS, string | undefined> = { duckdb: python, spark };
  for (const [engine, its] of Object.entries(engines) as [keyof typeof engines, string | undefined][]) {
    if (its === undefined) {
      console.log(`${engine}: no Python with it was named; it is not compared`);
      continue;
    }
    const files: string[] = [];
    for (const [at, [, options]] of CASES.entries()) {
      const out = join(folder, `${engine}-${at}`);
      await mkdir(out);
      files.push(join(folder, `${engine}-${at}.sql`));
      await writeFile(files[at] ?? '', joinSql(SQL_DIALECTS[engine], compacted, out, options));
    }
    run(its, RUN, engine, ...files);
    for (const [at, [name]] of CASES.entries()) {
      console.log(`${engine}, ${name}`);
      run(python, COMPARE, join(folder, `set-${at}`), join(folder, `${engine}-${at}`));
    }
  }
} finally {
  await rm(folder, { recursive: true });
}

function run(program: string, ...args: readonly string[]): void {
  const { status } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${args.slice(0, 2).join(' ')} ended with ${status}`);
}
