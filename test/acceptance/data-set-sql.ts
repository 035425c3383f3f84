/**
 * Builds data sets of a synthetic ledger with late, repeated and orphaned feedback, and pages, and compares each row by row
 * with what DuckDB makes of the SQL of `dataset build --sql duckdb`:
 * `node dist/test/acceptance/data-set-sql.js --python PYTHON [--rankings 200000]`. PYTHON has the package duckdb.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { writeSyntheticLedger } from '../../bench/dataset/synthetic-ledger.js';
import { buildDataSet } from '../../runtime/learn/dataset/build-data-set.js';
import { compactLedger } from '../../runtime/learn/dataset/compact/compact.js';
import { duckDbSql } from '../../runtime/learn/dataset/duckdb-sql.js';
import { DAY, MILLION, type DataSetOptions } from '../../runtime/learn/dataset/options.js';

const COMPARE = fileURLToPath(new URL('../../../test/acceptance/data_set_equal.py', import.meta.url));

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

const CASES: readonly (readonly [string, DataSetOptions & { readonly pipeline: string }])[] = [
  ['split by time, examined by page', BASE],
  [
    'split by user, examined down to the last click',
    {
      ...BASE,
      split: { by: 'hash', type: 'user', train: 0.7 * MILLION },
      examined: { rule: 'last_click', further: 2 },
      since: Date.UTC(2026, 9, 5),
      until: Date.UTC(2026, 9, 25),
    },
  ],
];

const { values } = parseArgs({
  options: { python: { type: 'string' }, rankings: { type: 'string', default: '200000' } },
});
if (values.python === undefined) throw new Error('pass --python, a Python with the package duckdb');
const folder = await mkdtemp(join(tmpdir(), 'millrace-acceptance-'));
try {
  const ledger = join(folder, 'ledger');
  const compacted = join(folder, 'compacted');
  writeSyntheticLedger(ledger, Number(values.rankings), 24);
  // A segment that was not written to for a day is closed, also the last one.
  for (const name of await readdir(ledger)) await utimes(join(ledger, name), LONG_AGO, LONG_AGO);
  await compactLedger(ledger, compacted);
  for (const [name, options] of CASES) {
    const out = join(folder, 'set');
    const { manifest } = await buildDataSet(ledger, out, 'parquet', options);
    console.log(`${name}: ${JSON.stringify(manifest.attribution)}`);
    const sql = join(folder, 'data_set.sql');
    const [view = ''] = duckDbSql(compacted, out, options).split('\n\nCOPY');
    await writeFile(sql, view);
    const { status } = spawnSync(values.python, [COMPARE, sql, out], { stdio: 'inherit' });
    if (status !== 0) throw new Error(`${name}: the joins differ`);
  }
} finally {
  await rm(folder, { recursive: true });
}
