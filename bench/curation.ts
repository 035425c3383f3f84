import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startProject, type TestProject } from '../test/support/project.js';
import { table } from './support/measure.js';

const COUNTS = [1, 100, 10_000];
const CANDIDATES = 24;
const FORMS = {
  query: (at: number) => `{ query: brand ${at} tv, pin: { 1: p1 } }`,
  contains: (at: number) => `{ query: brand ${at} tv, match: contains, hide: [p2] }`,
  when: (at: number) => `{ when: 'lower(query.query) == "brand ${at} tv"', pin: { 2: p3 } }`,
} as const;
/** The most that a ranking may take longer with 10,000 rules that do not match than with one. */
const MOST_RATIO = 1.25;

/** Measures lists of rules of which none matches: the start, the memory, and the time of a ranking. */
export async function curationBench(short: boolean): Promise<void> {
  const rounds = short ? 300 : 20_000;
  const rows: string[][] = [];
  for (const [form, rule] of Object.entries(FORMS)) {
    const projects: TestProject[] = [];
    const starts: number[] = [];
    const sizes: number[] = [];
    for (const count of COUNTS) {
      const before = heap();
      const began = performance.now();
      projects.push(await startProject(filesOf(count, rule)));
      starts.push(performance.now() - began);
      sizes.push(heap() - before);
    }
    const times = await timesOf(projects, rounds);
    for (const project of projects) await project.close();
    for (const [at, count] of COUNTS.entries())
      rows.push([
        form,
        String(count),
        (starts[at] ?? NaN).toFixed(0),
        ((sizes[at] ?? NaN) / 2 ** 20).toFixed(1),
        (1000 * (times[at] ?? NaN)).toFixed(1),
      ]);
    const ratio = (times.at(-1) ?? NaN) / (times[0] ?? NaN);
    if (!(ratio <= MOST_RATIO)) {
      console.error(`${form}: a ranking takes ${ratio.toFixed(2)} times as long with ${COUNTS.at(-1)} rules`);
      process.exitCode = 1;
    }
  }
  console.log(table(['rules', 'number', 'start ms', 'MiB', 'ranking µs'], rows));
}

function filesOf(count: number, rule: (at: number) => string): Record<string, string> {
  const rules = Array.from({ length: count }, (_, at) => `  - ${rule(at)}\n`);
  return {
    'schemas/entities/product.yaml': 'entity: product\n',
    'curation/many.yaml': `curation: many\nrules:\n${rules.join('')}`,
    'pipelines/search.yaml': `pipeline: search
rank: product
request: { query: query, candidates: { found: float } }
components:
  - { use: score, with: { value: product.found } }
  - { use: curation, with: { list: many } }
`,
  };
}

/** The median times of a ranking, measured by turns. */
async function timesOf(projects: readonly TestProject[], rounds: number): Promise<number[]> {
  const candidates = Array.from({ length: CANDIDATES }, (_, at) => ({ product_id: `p${at}`, found: at }));
  const body = { query: { query: 'a query for which there is no rule' }, candidates };
  const times = projects.map((): number[] => []);
  for (let round = -rounds / 10; round < rounds; round++)
    for (const [at, project] of projects.entries()) {
      const began = performance.now();
      await project.rank(body);
      if (round >= 0) times[at]?.push(performance.now() - began);
    }
  return times.map((all) => all.sort((a, b) => a - b)[all.length >> 1] ?? NaN);
}

function heap(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
