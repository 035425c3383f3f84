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
/** Timers of the service run at any time. The request with the fewest calls had none in it. */
const MEASURED = 9;
/** Items of one upload. */
const MOST = 500;

/** Ranks products of the demo by the shop's pipeline over HTTP, with the embedded store in this process. */
async function requestCalls(): Promise<RequestCalls> {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-calls-'));
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
    const found: RequestCalls[] = [];
    for (let i = 0; i < MEASURED; i++) {
      await session.post('Profiler.takePreciseCoverage');
      await rank();
      await new Promise(setImmediate);
      found.push(countsOf((await session.post('Profiler.takePreciseCoverage')).result));
    }
    return found.reduce((least, one) => (one.calls < least.calls ? one : least));
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
  readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
}

function countsOf(coverage: readonly Coverage[]): RequestCalls {
  const byFile = coverage.flatMap(({ url, functions }): FileCalls[] => {
    const file = url.startsWith('file:') ? relative(DIST, fileURLToPath(url)) : '';
    const counts = functions.map(({ ranges }) => ranges[0]?.count ?? 0).filter((count) => count > 0);
    if (!/^(runtime|plugins)\//.test(file) || counts.length === 0) return [];
    return [{ file, functions: counts.length, calls: counts.reduce((sum, count) => sum + count) }];
  });
  const sum = (of: 'functions' | 'calls'): number => byFile.reduce((total, one) => total + one[of], 0);
  const sorted = byFile.sort((a, b) => b.calls - a.calls);
  return { files: byFile.length, functions: sum('functions'), calls: sum('calls'), byFile: sorted };
}

/** `node dist/scripts/request-calls.js [--json]`, in the root of the repository. */
const { byFile, ...counts } = await requestCalls();
if (process.argv.includes('--json')) console.log(JSON.stringify({ ...counts, byFile }));
else {
  console.table(byFile);
  console.log(counts);
}
