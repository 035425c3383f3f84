import { mkdtemp, rm } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startService } from '../runtime/serve/app/serve.js';
import { DEMO_SEED, makeCatalogue } from '../runtime/cli/demo/catalogue.js';
import { loadSettings } from '../runtime/project/settings/settings.js';

/** The code of ours that one request runs, once everything is warm. */
interface RequestCalls {
  readonly files: number;
  readonly functions: number;
  readonly calls: number;
  readonly byFile: readonly FileCalls[];
}

interface FileCalls {
  readonly file: string;
  readonly functions: number;
  readonly calls: number;
}

const DIST = fileURLToPath(new URL('..', import.meta.url));
const CANDIDATES = 3;
const WARM = 300;
/** So many requests are measured. A function counts as often as it runs in each of them. */
const MEASURED = 9;
/** What a request may run, see `--check`. */
const BOUNDS = { files: 100, calls: 1516 };
/** Items of one upload. */
const MOST = 500;

/** Ranks products of the demo by the shop's pipeline over HTTP, with the embedded store in this process. */
async function requestCalls(): Promise<RequestCalls> {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-calls-'));
  // What the service samples on a machine that is busy would run beside each request, and belongs to none.
  Object.assign(globalThis, { setInterval: () => setTimeout(() => undefined, 0) });
  const env = { LOG_LEVEL: 'silent', PORT: '0', MILLRACE_RESIDENT: 'all' };
  const service = await startService(loadSettings(env, { project: '.', store: 'embedded', dataDir }));
  const session = new Session();
  session.connect();
  try {
    const body = await loadShop(service.url);
    const rank = async (): Promise<void> => post(service.url, 'ranking', body);
    for (let i = 0; i < WARM; i++) await rank();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    // Other timers become due while the coverage is taken: they run in some of the requests only.
    const found: Coverage[][] = [];
    for (let i = 0; i < MEASURED; i++) {
      await session.post('Profiler.takePreciseCoverage');
      await rank();
      await new Promise(setImmediate);
      found.push((await session.post('Profiler.takePreciseCoverage')).result);
    }
    return countsOf(found);
  } finally {
    session.disconnect();
    await service.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** @returns the body of the request that is measured */
async function loadShop(url: string): Promise<object> {
  const { brands, categories, products, users, queries, features } = makeCatalogue(DEMO_SEED);
  const types = { brand: brands, category: categories, product: products, user: users, query: queries };
  for (const [type, entities] of Object.entries(types))
    await post(url, 'entities/upload', { entity_type: type, entities: entities.slice(0, MOST) });
  for (const [view, rows] of features) await post(url, 'features/push', { view, rows: rows.slice(0, MOST) });
  return {
    query: { query: queries[0]?.['query'] },
    user: { user_id: users[0]?.user_id },
    candidates: products.slice(0, CANDIDATES).map(({ product_id }) => ({ product_id })),
  };
}

async function post(url: string, path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(`${url}/api/v1/${path}`, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
}

interface Coverage {
  readonly url: string;
  readonly functions: readonly {
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
  }[];
}

/** @param requests what each of the measured requests ran */
function countsOf(requests: readonly (readonly Coverage[])[]): RequestCalls {
  const calls = requests.map(callsByFunction);
  const byFile = new Map<string, FileCalls>();
  for (const key of calls[0]?.keys() ?? []) {
    const least = Math.min(...calls.map((ofOne) => ofOne.get(key) ?? 0));
    const file = key.slice(0, key.lastIndexOf(':'));
    const before = byFile.get(file) ?? { file, functions: 0, calls: 0 };
    if (least > 0) byFile.set(file, { file, functions: before.functions + 1, calls: before.calls + least });
  }
  const all = [...byFile.values()].sort((a, b) => b.calls - a.calls);
  const sum = (of: 'functions' | 'calls'): number => all.reduce((total, one) => total + one[of], 0);
  return { files: all.length, functions: sum('functions'), calls: sum('calls'), byFile: all };
}

/** @returns how often each function of ours ran, by `file:offset` */
function callsByFunction(coverage: readonly Coverage[]): ReadonlyMap<string, number> {
  return new Map(
    coverage.flatMap(({ url, functions }) => {
      const file = url.startsWith('file:') ? relative(DIST, fileURLToPath(url)) : '';
      if (!/^(runtime|plugins)\//.test(file)) return [];
      return functions.flatMap(({ ranges: [range] }) =>
        range ? [[`${file}:${range.startOffset}`, range.count] as const] : [],
      );
    }),
  );
}

/** `node dist/scripts/request-calls.js [--json | --check]`, in the root of the repository. `--check` fails above `BOUNDS`. */
const { byFile, ...counts } = await requestCalls();
if (process.argv.includes('--json')) console.log(JSON.stringify({ ...counts, byFile }));
else {
  if (!process.argv.includes('--check')) console.table(byFile);
  console.log(counts);
}
if (process.argv.includes('--check') && (counts.files > BOUNDS.files || counts.calls > BOUNDS.calls)) {
  console.error(
    `a warm ranking of ${CANDIDATES} candidates may run ${BOUNDS.files} files and ${BOUNDS.calls} calls`,
  );
  process.exitCode = 1;
}
