import { copyFile, readFile, rm } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { isInShare } from '../../runtime/learn/shadow/run-arms.js';
import type { ShadowReport } from '../../runtime/cli/report/shadow-text.js';
import type { ArmRow } from '../../runtime/learn/shadow/tally.js';
import { millrace } from '../support/command-line.js';
import { pluginFiles, writeProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { describeWith } from '../support/needs.js';
import { until } from '../support/until.js';
import { BUNDLED_ARMS } from '../support/bundled-arms.js';

const FILES: Readonly<Record<string, string>> = {
  'pipelines/search.yaml':
    'pipeline: search\nrank: product\nlimits: { time: 60s }\ncomponents:\n  - use: score\n    with: { value: 1 }\n' +
    'log: { candidates: all }\n',
  'pipelines/slow.yaml':
    'pipeline: slow\nrank: product\nlimits: { time: 60s }\ncomponents:\n  - use: score\n    with: { value: 1 }\n' +
    '  - use: wait\n',
  ...pluginFiles(
    'wait',
    'rule',
    'return { apply() { for (const end = Date.now() + 400; Date.now() < end; ); return { applied: 0, skipped: 0 }; } };',
  ),
};
const SHARE = 0.5;
const QUEUE = 3;
/** The arms start with a low priority, and other tests run beside this one. */
const PATIENCE = 80_000;

describeWith('redis-server', 'shadow --follow', function () {
  this.timeout(240_000);
  let redis: PrivateRedis;
  let root = '';
  let ledger = '';

  before(async function () {
    redis = await startRedisServer();
    root = await writeProject(FILES);
    ledger = join(root, 'ledger');
  });
  after(async () => {
    await redis.remove();
    await rm(root, { recursive: true, force: true });
  });

  const serve = (): Promise<ServiceProcess> =>
    startProcess(['--project', root, '--port', '0'], {
      REDIS_URL: redis.url,
      MILLRACE_LEDGER_DIR: ledger,
      MILLRACE_LAME_DUCK_MS: '0',
    });
  const stop = async (service: ServiceProcess): Promise<void> => {
    service.child.kill('SIGTERM');
    await service.ended;
  };
  const segments = (): string[] =>
    readdirSync(ledger, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.mlr'));
  const logged = async (): Promise<number> =>
    (await millrace(['ledger', 'cat', ledger])).stdout.split('\n').length - 1;

  async function rank({ url }: ServiceProcess, ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const candidates = ['a', 'b', 'c'].map((product_id) => ({ product_id }));
      const response = await fetch(`${url}/api/v1/search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ request_id: id, candidates }),
      });
      expect(response.status).to.equal(200);
      await response.text();
    }
  }

  it('counts each request once while the service is restarted, and exports the dropped ones', async () => {
    const ids = (part: string, count: number): string[] =>
      Array.from({ length: count }, (_, at) => `${part}${at}`);
    const [first, second] = [ids('a', 30), ids('b', 30)];
    const before = await serve();
    await rank(before, ['early']);
    await until('the first record', async () => (await logged()) === 1);
    const file = join(root, 'rows.jsonl');
    const done = new AbortController();
    let output = '';
    const following = millrace(
      [
        ...['shadow', 'search', '--against', 'search', '--against', 'slow', '--follow', '--json'],
        ...['--share', `${SHARE * 100}%`, '--queue', String(QUEUE), '--export', file],
        ...['--project', root, '--ledger', ledger],
      ],
      {
        env: { REDIS_URL: redis.url, PATH: process.env.PATH ?? '', ...BUNDLED_ARMS },
        stop: done.signal,
        onOutput: (text) => (output += text),
      },
    );
    await until('the arms', () => output.includes('following'), PATIENCE);
    await rank(before, first);
    await stop(before);
    const old = segments();
    const after = await serve();
    expect(after.pid).not.to.equal(before.pid);
    await rank(after, second);
    await stop(after);
    expect(segments().length).to.be.greaterThan(old.length);
    // What `ledger compact` does: records that were read stand in another segment.
    await copyFile(join(ledger, old[0] ?? ''), join(ledger, 'again-000001.mlr'));
    const wanted = [...first, ...second].filter((id) => isInShare(id, SHARE));
    const rows = async (): Promise<ArmRow[]> =>
      (await readFile(file, 'utf8'))
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as ArmRow);
    await until('all requests', async () => (await rows()).length >= 2 * wanted.length, PATIENCE);
    done.abort();
    const { stdout, stderr, code } = await following;
    expect(code, stderr).to.equal(0);
    const { requests, arms } = JSON.parse(stdout) as ShadowReport;
    expect(requests).to.equal(wanted.length);
    for (const name of ['search', 'slow']) {
      const own = (await rows()).filter((row) => row.arm === name);
      expect(own.map((row) => row.request_id).sort()).to.deep.equal([...wanted].sort());
      const report = arms.find((one) => one.arm === name);
      const dropped = own.filter(({ outcome }) => outcome === 'dropped').length;
      const ranked = own.filter(({ outcome }) => outcome === 'ok').length;
      expect(report?.failed).to.deep.equal({});
      expect(report).to.include({ ranked, dropped });
      expect(ranked + dropped).to.equal(wanted.length);
    }
    // The slow arm ranks a request in 0.4 s, and the log comes in batches.
    expect(arms[1]?.dropped).to.be.greaterThan(0);
    expect(arms[1]?.ranked).to.be.greaterThan(0);
  });
});
