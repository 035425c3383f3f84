import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Writes a program that stands for Python with LightGBM. It "trains" a model of one tree, which splits the first column at
 * 50, and scores the rows. It notes the task that it got in `task.json` beside it.
 * @param mode `ok`; `wrong`: the last score is wrong; `missing`: the library is not installed; `crash`: it ends with a
 *   message
 */
export async function writeFakePython(
  folder: string,
  mode: 'ok' | 'wrong' | 'missing' | 'crash' = 'ok',
): Promise<string> {
  const path = join(folder, `python-${mode}.mjs`);
  await writeFile(path, `#!${process.execPath}\n${SOURCE.replace('MODE', mode)}`);
  await chmod(path, 0o755);
  return path;
}

const SOURCE = `
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
const mode = 'MODE';
const task = JSON.parse(readFileSync(process.argv[4], 'utf8'));
if (task.logged !== undefined) {
  const failed = { error: 'mlflow failed: no server', help: null };
  writeFileSync(task.result, JSON.stringify(task.logged.includes('unlogged') ? failed : { card: { run: 'r7', experiment: task.name } }));
  process.exit(0);
}
const values = {};
for (const { name, type, values: files } of task.columns) {
  if (files === undefined) continue;
  const bytes = readFileSync(files.holdout);
  values[name] = type === 'text' ? JSON.parse(bytes) : [...new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))];
}
writeFileSync(join(dirname(fileURLToPath(import.meta.url)), 'task.json'), JSON.stringify({ ...task, computed: values }));
if (mode === 'crash') { console.error('Traceback\\nMemoryError: no memory'); process.exit(1); }
if (mode === 'missing') {
  writeFileSync(task.result, JSON.stringify({ missing: 'lightgbm is not installed: pip install lightgbm pandas', packages: ['lightgbm', 'pandas'], python: 'python3' }));
  process.exit(3);
}
const [header, ...lines] = readFileSync(join(task.data, task.scored + '.csv'), 'utf8').trim().split('\\n').map((line) => line.split(','));
const [first] = task.columns;
const inputs = values[first.name] ?? lines.map((cells) => { const cell = cells[header.indexOf(first.feature)]; return cell === '' ? NaN : Number(cell); });
const scores = Float64Array.from(inputs, (value) => (value <= 50 || Number.isNaN(value) ? 0.25 : -0.5));
if (mode === 'wrong') scores[scores.length - 1] += 1e-9;
writeFileSync(task.scores, Buffer.from(scores.buffer));
const names = task.columns.map(({ name }) => name);
const tree = 'Tree=0\\nnum_leaves=2\\nnum_cat=0\\nsplit_feature=0\\nthreshold=50\\ndecision_type=10\\nleft_child=-1\\nright_child=-2\\nleaf_value=0.25 -0.5\\nis_linear=0\\nshrinkage=1\\n\\n\\n';
writeFileSync(task.model, 'tree\\nversion=v4\\nnum_class=1\\nnum_tree_per_iteration=1\\nlabel_index=0\\nmax_feature_idx=' + (names.length - 1) + '\\nobjective=lambdarank\\nfeature_names=' + names.join(' ') + '\\nfeature_infos=' + task.columns.map(({ type }) => type === 'text' ? 'none' : '[0:100]').join(' ') + '\\ntree_sizes=' + tree.length + '\\n\\n' + tree + 'end of trees\\n\\npandas_categorical:' + JSON.stringify(task.columns.some(({ type }) => type === 'text') ? [['acme']] : null) + '\\n');
console.log('{"round": 1, "ndcg": 0.5}');
console.log('{"round": {"round": 1, "ndcg": 0.5}');
if (task.budget !== null) console.log('{"points": 1, "share": 0.5, "best": 0.6}');
writeFileSync(task.result, JSON.stringify({ card: {
  format: 1, library: 'lightgbm', versions: { lightgbm: '4.7.0' },
  data: { manifest: 'abc', labels: 'feedback', label: { click: 1 }, requests: { train: 2, holdout: 1 }, rows: { train: 4, holdout: 3 }, span: { train: ['2026-01-01', '2026-01-02'], holdout: null } },
  columns: task.columns.map(({ name, type }) => ({ name, type })), positions: { method: 'none', reason: 'no propensities' },
  weights: 'all rows weigh the same', parameters: { num_leaves: 2 }, rounds: 1, rounds_chosen_by: 'holdout', seed: task.seed, seconds: 0.1,
  holdout: { 'ndcg@10': { queries: 1, mean: 0.5, lower: 0.4, upper: 0.6, shown: 0.4, delta: 0.1, delta_lower: 0, delta_upper: 0.2 } },
  importance: Object.fromEntries(names.map((name, at) => [name, { gain: at === 0 ? 3 : 0, splits: at === 0 ? 1 : 0, ...(task.importance ? { permutation: at === 0 ? 0.2 : 0, contribution: at === 0 ? 0.4 : 0, trend: null } : {}) }])),
  measure: 'ndcg@10', segments: { 'request.device': { 'a|b': { queries: 1, mean: 0.5, lower: 0.4, upper: 0.6 } } }, worst: [{ query: 'r3', requests: 1, mean: 0.5 }],
  learning_curve: task.curve ? [{ requests: 1, rows: 2, queries: 1, mean: 0.3, lower: 0.2, upper: 0.4 }] : [],
  ...(task.folds === null && task.budget === null ? {} : { folds: { count: task.folds ?? 5, rounds: [1, 3], queries: 2, mean: 0.6, lower: 0.5, upper: 0.7 } }),
  ...(task.budget === null ? {} : { search: { points: 2, seconds: task.budget, interrupted: false, parameters: { num_leaves: 9 }, defaults: 0.5, best: 0.6 } }) } }));
`;
