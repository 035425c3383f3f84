import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { pino } from 'pino';
import { startService, type RunningService } from '../../runtime/serve/app/serve.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { Arm } from '../../runtime/cli/shadow/arm.js';
import type { ShadowReport } from '../../runtime/cli/report/shadow-text.js';
import { isInShare } from '../../runtime/learn/shadow/run-arms.js';
import { millrace, type CommandResult } from '../support/command-line.js';
import { pluginFiles, writeProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { describeWith } from '../support/needs.js';
import { until } from '../support/until.js';
import { BUNDLED_ARMS } from '../support/bundled-arms.js';

const arm = (name: string, use: string): Record<string, string> => ({
  [`pipelines/${name}.yaml`]: `pipeline: ${name}\nrank: product\nlimits: { time: 60s }\ncomponents:\n  - use: ${use}\n`,
});
/** A rule of the project that runs this code. */
const rule = (name: string, score: string): Record<string, string> =>
  pluginFiles(
    name,
    'rule',
    `return { scoring: 'sets', apply(input, ranking) { ${score} return { applied: 0, skipped: 0 }; } };`,
  );
/** Holds the event loop for ever, without using the CPU. */
const WAIT = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);';
const experiment = (name: string, more: string): string =>
  `experiment: ${name}\npipeline: search\nunit: user\n${more}\n` +
  'arms:\n  control: {}\n  turned: { pipeline: turned }\n';

const FILES: Readonly<Record<string, string>> = {
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes:\n  price: float\n',
  'pipelines/search.yaml':
    'pipeline: search\nrank: product\nrequest: { candidates: {}, user: optional(user) }\nparams: { w: { value: 1, min: -2, max: 2 } }\ncomponents:\n' +
    '  - use: score\n    with: { value: w * product.price }\nlog: { candidates: all }\n',
  'pipelines/turned.yaml':
    'pipeline: turned\nrank: product\nrequest: { candidates: {}, user: optional(user) }\ncomponents:\n' +
    '  - use: score\n    with: { value: 0 - product.price }\n',
  'pipelines/other.yaml':
    'pipeline: other\nrank: product\ncomponents:\n  - use: score\n    with: { value: 0 - product.price }\n',
  'experiments/quiet.yaml':
    experiment('quiet', 'mode: shadow\nshare: 50%') + '  steep: { params: { w: 2 } }\n',
  ...arm('hangs', 'hang'),
  ...rule('hang', WAIT),
  ...arm('throws', 'throw'),
  ...rule('throw', "throw new Error('no');"),
  ...arm('nans', 'nan'),
  ...rule('nan', 'ranking.scores.fill(NaN);'),
  ...arm('eats', 'eat'),
  ...rule('eat', 'const all = []; for (;;) all.push(new Array(100000).fill(Math.random()));'),
  ...arm('hoards', 'hoard'),
  ...rule('hoard', 'const all = []; while (all.length < 600) all.push(Buffer.alloc(1 << 20, 1)); ' + WAIT),
  ...arm('quits', 'quit'),
  ...rule('quit', 'process.exit(1);'),
};
const REQUESTS = 12;

describeWith('redis-server', 'shadow arms', function () {
  this.timeout(120_000);
  let redis: PrivateRedis;
  let root = '';
  let service: RunningService;
  const answers: string[] = [];
  /** The names of all headers of the answers. */
  const headers = new Set<string>();

  before(async function () {
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
    const user = { user_id: `u${requestId}` };
    const response = await fetch(`${service.url}/api/v1/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ request_id: requestId, user, candidates, user_page: 0, user_page_size: 5 }),
    });
    expect(response.status).to.equal(200);
    for (const name of response.headers.keys()) headers.add(name);
    return await response.text();
  }

  const run = (...args: string[]): Promise<CommandResult> =>
    millrace(['shadow', 'search', '--project', root, '--ledger', join(root, 'ledger'), ...args], {
      env: { REDIS_URL: redis.url, PATH: process.env.PATH ?? '', ...BUNDLED_ARMS },
    });

  /** The rankings of the ledger. */
  async function records(): Promise<readonly { readonly time: string }[]> {
    const { stdout } = await millrace(['ledger', 'cat', join(root, 'ledger')]);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly time: string });
  }

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

  it('of an experiment run with its share and control', async () => {
    const requests = Array.from({ length: REQUESTS }, (_, i) => isInShare(`r${i}`, 0.5)).filter(
      Boolean,
    ).length;
    const { stdout } = await millrace(
      ['shadow', '--experiment', 'quiet', '--json', '--project', root, '--ledger', join(root, 'ledger')],
      { env: { REDIS_URL: redis.url, PATH: process.env.PATH ?? '', ...BUNDLED_ARMS } },
    );
    const own = JSON.parse(stdout) as ShadowReport;
    expect(own).to.deep.include({ experiment: 'quiet', pipeline: 'search', share: 0.5, requests });
    const [control, turned, steep] = own.arms;
    expect(control).to.deep.include({ arm: 'control', ranked: requests, same: requests });
    expect(control?.drift).to.deep.equal({ mean: 0, p95: 0 });
    expect(steep).to.deep.include({ arm: 'steep', ranked: requests, same: requests });
    expect(steep?.drift?.mean).to.equal(3);
    expect(turned).to.deep.include({ arm: 'turned', ranked: requests, same: 0 });
  });

  it('of an experiment run only the requests of its time; a share on the command line wins', async () => {
    const times = (await records()).map(({ time }) => Date.parse(time)).sort((a, b) => a - b);
    const [from = 0, until = 0] = [times[4], times[9]];
    const taken = times.filter((time) => time >= from && time < until).length;
    const limited = await writeProject({
      ...FILES,
      'experiments/part.yaml': experiment(
        'part',
        `mode: shadow\nshare: 1%\nfrom: ${new Date(from).toISOString()}\nuntil: ${new Date(until).toISOString()}`,
      ),
      'experiments/later.yaml': experiment('later', 'mode: shadow\nfrom: 2100-01-01T00:00Z'),
    });
    try {
      const part = await report('--experiment', 'part', '--share', '100%', '--project', limited);
      expect(part).to.include({ share: 1, requests: taken });
      expect(part.arms.map(({ ranked }) => ranked)).to.deep.equal([taken, taken]);
      const none = await run('--experiment', 'later', '--project', limited);
      expect(none.code).to.equal(1);
      expect(none.stderr).to.include('between from and until');
    } finally {
      await rm(limited, { recursive: true, force: true });
    }
  });

  it('of an experiment are not known to the service', async () => {
    expect([...headers])
      .to.include('content-type')
      .and.not.include('millrace-experiment');
    for (const record of await records()) expect(record).not.to.have.any.keys('experiment', 'arm');
    expect((await millrace(['validate', '--project', root])).code).to.equal(0);
  });

  it('that return NaN are counted', async () => {
    const { arms } = await report('--against', 'nans', '--last', '3');
    expect(arms[0]).to.deep.include({ ranked: 3, degraded: 3, failed: {} });
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

  it('that eat memory outside the heap are killed', async () => {
    const { stdout } = await run(
      '--against',
      'hoards',
      '--memory',
      '64MB',
      '--timeout',
      '60s',
      '--last',
      '1',
      '--json',
    );
    expect((JSON.parse(stdout) as ShadowReport).arms[0]?.failed).to.deep.equal({ crashed: 1 });
  });

  it('that cannot be started again fail the requests until they can', async () => {
    const warnings: string[] = [];
    const open = {
      type: 'open',
      pipeline: 'search',
      against: 'quits',
      params: {},
      flags: { project: root },
    } as const;
    const one = new Arm(
      open,
      { timeoutMs: 60_000, memoryMb: 512 },
      { REDIS_URL: redis.url, ...BUNDLED_ARMS },
      (problem) => warnings.push(problem),
    );
    const { signal } = new AbortController();
    const outcome = (): Promise<unknown> => one.run('r', { candidates: [{ product_id: 'p1' }] }, signal);
    const file = join(root, 'pipelines/quits.yaml');
    const text = readFileSync(file, 'utf8');
    try {
      await one.start();
      expect(await outcome()).to.deep.equal({ is: 'failed', code: 'crashed' });
      writeFileSync(file, text.replace('quit\n', 'quitt\n'));
      expect(await outcome()).to.deep.equal({ is: 'failed', code: 'not_loaded' });
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.include('quitt');
      writeFileSync(file, text);
      expect(await outcome()).to.deep.equal({ is: 'failed', code: 'crashed' });
    } finally {
      await one.close();
      writeFileSync(file, text);
    }
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
    const last = await run('--against', 'turned', '--last', '0');
    expect(last.stderr).to.include('Expected a whole number, 1 or more.');
    const range = await run('--params', 'w=9');
    expect(range.stderr).to.include('from -2 to 2');
  });
});
