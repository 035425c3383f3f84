import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { Random } from '../runtime/ground/core/random.js';
import { millrace } from '../test/support/command-line.js';
import { writeProject } from '../test/support/project.js';
import { table } from './support/measure.js';

const PARAMS = Array.from({ length: 10 }, (_, at) => `w${at}`);
const CANDIDATES = 24;
const MOST_CPU_S = 60;
const SHAPES: Readonly<Record<string, (param: string, at: number) => string>> = {
  'weights of a sum': (param, at) => `${param} * product.a${at}`,
  // Its rankings are no sums over the params, so that each point runs the pipeline.
  thresholds: (param, at) => `if(product.a${at} > ${param} - 1, 1, 0)`,
};

/**
 * Tunes ten params on generated judgments: the CPU time of the whole command, and that a search which the pipeline has to
 * run for each point ends with its budget.
 */
export async function tuneBench(short: boolean): Promise<void> {
  const queries = short ? 2_000 : 9_000;
  const rows: string[][] = [];
  for (const [name, term] of Object.entries(SHAPES)) {
    const root = await project(queries, term);
    try {
      const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
      const store = ['--project', root, '--store', 'embedded', '--data-dir', folder];
      const loaded = await millrace(['entities', 'load', 'product', join(root, 'products.jsonl'), ...store]);
      if (loaded.code !== 0) throw new Error(loaded.stderr);
      const [cpu, started] = [process.cpuUsage(), performance.now()];
      const flags = [
        '--judgments',
        join(root, 'judgments.csv'),
        '--budget',
        name === 'thresholds' ? '1m' : '30m',
        '--json',
      ];
      const tuned = await millrace(['tune', 'search', ...flags, ...store]);
      const seconds = (performance.now() - started) / 1000;
      const { user, system } = process.cpuUsage(cpu);
      if (tuned.code !== 0) throw new Error(tuned.stderr);
      const { evaluations, stopped, out_of_fold: found } = JSON.parse(tuned.stdout) as Result;
      const spent = (user + system) / 1e6;
      if (name === 'weights of a sum' && (spent > MOST_CPU_S || stopped || !(found.lower > 0)))
        throw new Error(
          `${name}: ${spent.toFixed(1)} s of CPU, stopped ${stopped}, gain from ${found.lower}`,
        );
      const gain = `${found.before.toFixed(4)} → ${found.after.toFixed(4)}`;
      rows.push([
        name,
        spent.toFixed(1),
        seconds.toFixed(1),
        String(evaluations),
        stopped ? 'yes' : 'no',
        gain,
      ]);
      await rm(folder, { recursive: true });
    } finally {
      await rm(root, { recursive: true });
    }
  }
  console.log(`\nmillrace tune, ${queries} queries of ${CANDIDATES} candidates, ${PARAMS.length} params\n`);
  console.log(table(['params', 'CPU s', 'seconds', 'evaluations', 'stopped', 'out of fold'], rows));
}

interface Result {
  readonly evaluations: number;
  readonly stopped: boolean;
  readonly out_of_fold: { readonly before: number; readonly after: number; readonly lower: number };
}

/** A project, products with ten numbers, and judgments whose grades depend on them. */
async function project(queries: number, term: (param: string, at: number) => string): Promise<string> {
  const random = new Random(2026);
  const products = Array.from({ length: 5_000 }, (_, id) => ({
    product_id: `p${id}`,
    title: `thing ${id}`,
    ...Object.fromEntries(PARAMS.map((_, at) => [`a${at}`, Number(random.next().toFixed(3))])),
  }));
  const worth = PARAMS.map((_, at) => (at % 3 === 0 ? 1.5 : 0.3 * random.next()));
  const rows: string[] = ['query,product_id,grade'];
  for (let query = 0; query < queries; query++)
    for (let candidate = 0; candidate < CANDIDATES; candidate++) {
      const id = (query * 7 + candidate * 211) % products.length;
      const values = products[id] as unknown as Readonly<Record<string, number>>;
      const score = worth.reduce((sum, weight, at) => sum + weight * (values[`a${at}`] ?? 0), 0);
      rows.push(`q${query},p${id},${Math.max(0, Math.min(3, Math.round(score - 3 + random.around(-1, 1))))}`);
    }
  const root = await writeProject({
    'schemas/entities/product.yaml': `entity: product\nextends: ProductEntity\nattributes: { title: string, ${PARAMS.map((_, at) => `a${at}: float`).join(', ')} }\n`,
    'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, query: query }
params:
${PARAMS.map((name) => `  ${name}: { value: 0.5, min: 0, max: 3 }`).join('\n')}
components:
  - { use: score, with: { value: '${PARAMS.map(term).join(' + ')}' } }
`,
  });
  await writeFile(join(root, 'products.jsonl'), products.map((one) => JSON.stringify(one)).join('\n'));
  await writeFile(join(root, 'judgments.csv'), rows.join('\n'));
  return root;
}
