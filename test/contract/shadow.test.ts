import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { pino } from 'pino';
import { startService, type RunningService } from '../../runtime/app/serve.js';
import { loadSettings } from '../../runtime/settings/settings.js';
import type { ShadowReport } from '../../runtime/cli/shadow/shadow-text.js';
import { millrace, type CommandResult } from '../support/command-line.js';
import { pluginFiles, writeProject } from '../support/project.js';
import { needRedisServer, startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

const arm = (name: string, use: string): Record<string, string> => ({
  [`pipelines/${name}.yaml`]: `pipeline: ${name}\nrank: product\nlimits: { time: 60s }\ncomponents:\n  - use: score\n    with: { value: product.price }\n  - use: ${use}\n`,
});
/** A rule of the project that runs this code. */
const rule = (name: string, score: string): Record<string, string> =>
  pluginFiles(name, 'rule', `return { apply(input, ranking) { ${score} return {}; } };`);

const FILES: Readonly<Record<string, string>> = {
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes:\n  price: float\n',
  'pipelines/search.yaml':
    'pipeline: search\nrank: product\nparams: { w: { value: 1, min: -2, max: 2 } }\ncomponents:\n' +
    '  - use: score\n    with: { value: w * product.price }\nlog: { candidates: all }\n',
  'pipelines/other.yaml':
    'pipeline: other\nrank: product\ncomponents:\n  - use: score\n    with: { value: 0 - product.price }\n',
  ...arm('hangs', 'hang'),
  ...rule('hang', 'for (;;);'),
  ...arm('throws', 'throw'),
  ...rule('throw', "throw new Error('no');"),
  ...arm('nans', 'nan'),
  ...rule('nan', 'ranking.scores.fill(NaN);'),
  ...arm('eats', 'eat'),
  ...rule('eat', 'const all = []; for (;;) all.push(new Array(100000).fill(Math.random()));'),
};
const REQUESTS = 12;

describe('shadow arms', function () {
  this.timeout(120_000);
  let redis: PrivateRedis;
  let root = '';
  let service: RunningService;
  const answers: string[] = [];

  before(async function () {
    needRedisServer(this);
    redis = await startRedisServer();
    root = await writeProject(FILES);
    const settings = loadSettings(
      { REDIS_URL: redis.url, PORT: '0', MILLRACE_LEDGER_DIR: join(root, 'ledger') },
      { project: root },
    );
    service = await startService(settings, { logger: pino({ level: 'silent' }) });
    await service.app.entities.upload({
      entity_type: 'product',
      entities: Array.from({ length: 5 }, (_, i) => ({ product_id: `p${i}`, price: i + 1 })),
    });
    for (let i = 0; i < REQUESTS; i++) answers.push(await rank(`r${i}`));
    // Records are written after the answers.
    await until('the records of the ledger', async () => {
      const { stdout } = await millrace(['ledger', 'cat', join(root, 'ledger')]);
      return stdout.split('\n').length > REQUESTS;
    });
  });
  after(async () => {
    await service.close();
    await redis.remove();
    await rm(root, { recursive: true, force: true });
  });

  async function rank(requestId: string): Promise<string> {
    const candidates = Array.from({ length: 5 }, (_, i) => ({ product_id: `p${i}` }));
    const response = await fetch(`${service.url}/api/v1/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ request_id: requestId, candidates, user_page: 0, user_page_size: 5 }),
    });
    expect(response.status).to.equal(200);
    return await response.text();
  }

  const run = (...args: string[]): Promise<CommandResult> =>
    millrace(['shadow', 'search', '--project', root, '--ledger', join(root, 'ledger'), ...args], {
      env: { REDIS_URL: redis.url, PATH: process.env.PATH ?? '' },
    });

  async function report(...args: string[]): Promise<ShadowReport> {
    const { stdout, stderr, code } = await run('--json', ...args);
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout) as ShadowReport;
  }

  it('compare with what was served: the same, the reverse, other params', async () => {
    const { requests, arms } = await report('--against', 'search', '--against', 'other', '--params', 'w=2');
    expect(requests).to.equal(REQUESTS);
    const [same, reverse, params] = arms;
    expect(same).to.deep.include({ ranked: REQUESTS, same: REQUESTS, overlap: 1, dropped: 0 });
    expect(same?.tau).to.be.closeTo(1, 1e-9);
    expect(same?.drift).to.deep.equal({ mean: 0, p95: 0 });
    expect(reverse).to.deep.include({ ranked: REQUESTS, same: 0, overlap: 1, failed: {} });
    expect(reverse?.tau).to.be.closeTo(-1, 1e-9);
    expect(reverse?.drift?.mean).to.equal(-6);
    expect(params).to.deep.include({ arm: 'w=2', same: REQUESTS });
    expect(params?.drift?.mean).to.equal(3);
  });

  it('take a share of the requests, the same each time, and export each', async () => {
    const file = join(root, 'rows.jsonl');
    const half = await report('--against', 'other', '--share', '50%', '--export', file);
    expect(half.requests).to.be.within(1, REQUESTS - 1);
    const rows = readFileSync(file, 'utf8').trim().split('\n');
    expect(rows).to.have.length(half.requests);
    expect(JSON.parse(rows[0] ?? '')).to.include({ arm: 'other', outcome: 'ok', overlap: 1 });
    expect((await report('--against', 'other', '--share', '50%')).requests).to.equal(half.requests);
  });

  it('that return NaN are counted', async () => {
    const { arms } = await report('--against', 'nans', '--last', '3');
    const [one] = arms;
    const failed = Object.values(one?.failed ?? {}).reduce((sum, count) => sum + count, 0);
    expect(failed + (one?.degraded ?? 0) + (one?.not_finite ?? 0)).to.be.at.least(3);
  });

  it('that hang, throw or eat memory are counted, and live answers stay byte-identical', async () => {
    const { arms } = await report(
      ...['--against', 'hangs', '--against', 'throws', '--against', 'eats', '--last', '2'],
      ...['--timeout', '2s', '--memory', '64MB'],
    );
    const [hangs, throws, eats] = arms;
    expect(hangs).to.deep.include({ ranked: 0, failed: { timeout: 2 } });
    expect(Object.values(throws?.failed ?? {}).reduce((sum, count) => sum + count, 0)).to.equal(2);
    const died = (eats?.failed.crashed ?? 0) + (eats?.failed.timeout ?? 0);
    expect(died).to.equal(2);
    for (let i = 0; i < REQUESTS; i++) expect(await rank(`r${i}`)).to.equal(answers[i]);
  });

  it('say what is wrong', async () => {
    const none = await run();
    expect(none.code).to.equal(2);
    expect(none.stderr).to.include('--against');
    const pipeline = await run('--against', 'othr');
    expect(pipeline.code).to.equal(1);
    expect(pipeline.stderr).to.include('did you mean');
    const param = await run('--params', 'v=1');
    expect(param.stderr).to.include('no param');
    const range = await run('--params', 'w=9');
    expect(range.stderr).to.include('from -2 to 2');
  });
});
