/**
 * Scores many model files with the same code as the service: `node dist/test/acceptance/score-files.js --list FILE`.
 * Each line of the list is JSON: the file, its plugin, the rows, the options for a dump, and the model's column names
 * in the order of the rows. Prints one line of JSON per file: the scores by row, or why the file was rejected.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readBooster as readLightGbm } from '../../plugins/lightgbm/booster.js';
import { readBooster as readXgboost } from '../../plugins/xgboost/booster.js';
import type { DumpOptions } from '../../plugins/xgboost/read-dump.js';
import type { FileNotice } from '../../runtime/ground/sdk/model-file.js';
import type { FeatureColumn, TreeScorer } from '../../runtime/ground/api/tree-ensemble.js';
import { treeEngine } from '../../runtime/language/trees/tree-engine.js';

interface Request {
  readonly file: string;
  readonly plugin: 'lightgbm' | 'xgboost';
  readonly rows: string;
  readonly told?: DumpOptions;
  /** Of a dump, whose columns are in an order of its own. */
  readonly names?: readonly string[];
}

interface Read {
  readonly names: readonly string[];
  readonly outputs: number;
  readonly scorer: Pick<TreeScorer, 'score'>;
  /** Warnings during the load. */
  readonly notices: readonly FileNotice[];
}

async function read({ plugin, file, told }: Request): Promise<Read> {
  const content = readFileSync(file);
  if (plugin === 'lightgbm') {
    const { ensemble, columns, notices } = readLightGbm(content, 'raw');
    const scorer = await treeEngine.compile(ensemble);
    return { names: columns.names, outputs: ensemble.outputs, scorer, notices };
  }
  const { scored, outputs, columns, notices } = readXgboost(content, 'raw', 'best', told);
  const scorer = 'linear' in scored ? scored.linear : await treeEngine.compile(scored.ensemble);
  return { names: columns.names, outputs, scorer, notices };
}

const known = new Map<string, readonly (readonly (number | null)[])[]>();
function rowsIn(path: string): readonly (readonly (number | null)[])[] {
  const rows = known.get(path) ?? (JSON.parse(readFileSync(path, 'utf8')) as (number | null)[][]);
  known.set(path, rows);
  return rows;
}

interface Answer {
  /** By row, then output. */
  readonly scores: readonly (readonly number[])[];
  readonly notices?: readonly FileNotice[];
}

async function scoresOf(request: Request): Promise<Answer> {
  const { names, outputs, scorer, notices } = await read(request);
  const rows = rowsIn(request.rows);
  const width = request.names?.length ?? rows[0]?.length ?? 0;
  const places = names.map((name, index) => request.names?.indexOf(name) ?? index);
  // Bindings work like this: a pipeline provides a value for each column of the model, and no other columns.
  const unbound = places.findIndex((place) => place < 0 || place >= width);
  if (unbound >= 0) throw new Error(`nothing is bound to column ${names[unbound]}`);
  if (request.names === undefined && names.length !== width)
    throw new Error(`it has ${names.length} columns`);
  const columns = places.map((place): FeatureColumn => ({
    values: Float64Array.from(rows, (row) => row[place] ?? NaN),
    stride: 1,
  }));
  const found = Array.from({ length: outputs }, () => new Float64Array(rows.length));
  scorer.score(Int32Array.from(rows.keys()), columns, found);
  const scores = rows.map((_, row) => found.map((values) => values[row] ?? NaN));
  return notices.length === 0 ? { scores } : { scores, notices };
}

const { values } = parseArgs({ options: { list: { type: 'string' } } });
if (values.list === undefined) throw new Error('--list is missing: a file with a request on each line');
for (const line of readFileSync(values.list, 'utf8').split('\n')) {
  if (line === '') continue;
  const answer = await scoresOf(JSON.parse(line) as Request).catch((error: unknown) => ({
    refused: error instanceof Error ? error.message : String(error),
  }));
  console.log(JSON.stringify(answer));
}
