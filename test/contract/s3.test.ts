import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { sink as plugin } from '../../plugins/s3/index.js';
import type { Bucket } from '../../runtime/ground/core/bucket.js';
import { sinkTests } from '../../runtime/cli/testing/sink-tests.js';
import { packageFinder } from '../../runtime/ground/core/find-package.js';
import { describeWith } from '../support/needs.js';
import { keysOf, setVariables, startObjectServer, type ObjectServer } from '../support/object-server.js';
import { writeProject } from '../support/project.js';
import { startProcess } from '../support/service-process.js';
import { repositoryPath } from '../support/repository.js';
import { createSink, requestIdsIn, sinkLedger, type SinkLedger } from '../support/sink-ledger.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const MOST = 2 ** 30;

/** The sink against a real server. `npm run prove -- objects` kills and slows both sides. */
describeWith('moto', 'the s3 sink', function () {
  this.timeout(120_000);
  let server: ObjectServer;
  let proxy: TcpProxy;
  let names = 0;
  let opened: SinkLedger[];
  let restore = (): void => undefined;

  before(async () => {
    server = await startObjectServer();
    proxy = await startTcpProxy(server.port);
    restore = setVariables(server.env);
  });
  after(async () => {
    restore();
    await proxy.close();
    await server.close();
  });
  beforeEach(() => {
    opened = [];
    proxy.weather = 'clear';
  });
  afterEach(() => Promise.all(opened.map(({ ledger }) => ledger.close(0))));

  async function open(options: object = {}): Promise<SinkLedger & { readonly bucket: Bucket }> {
    const name = `sink-${names++}`;
    const bucket = await server.bucket(name);
    const given = { url: `s3://${name}/ledger`, endpoint: `http://127.0.0.1:${proxy.port}`, ...options };
    const sink = await createSink(plugin, { segment: '60s', segment_bytes: '8MB', timeout: '5s', ...given });
    const one = sinkLedger(sink);
    opened.push(one);
    return { ...one, bucket };
  }
  const idsIn = async (bucket: Bucket): Promise<string[]> => {
    const bodies = await Promise.all((await keysOf(bucket)).map((key) => bucket.readWhole(key, MOST)));
    return bodies.flatMap(requestIdsIn);
  };

  it('stores a segment when its records are old enough, and each is readable alone', async () => {
    const { add, ledger, counts, bucket } = await open({ segment: '300ms' });
    add(3);
    await until('a segment', () => counts.delivered === 3);
    add(2);
    await ledger.flush();
    const keys = await keysOf(bucket);
    expect(keys).to.have.length(2);
    expect(keys[0]).to.match(/^ledger\/\d{4}-\d\d-\d\d\/[0-9a-f-]{36}-test-\d{13}\.mlr$/);
    expect(await idsIn(bucket)).to.deep.equal(['r0', 'r1', 'r2', 'r3', 'r4']);
    expect(counts).to.include({ put: 5, delivered: 5, dropped: 0, retries: 0 });
  });

  it('waits for records until then, and stores a full segment at once', async () => {
    const { add, ledger, counts, bucket } = await open({ segment_bytes: '1MB' });
    add(1);
    expect(await keysOf(bucket)).to.deep.equal([]);
    add(3, 400_000);
    await until('the full segment', () => counts.delivered > 0);
    expect(counts.delivered).to.equal(3);
    await ledger.close(10_000);
    expect(await keysOf(bucket)).to.have.length(2);
    expect(await idsIn(bucket)).to.deep.equal(['r0', 'r1', 'r2', 'r3']);
  });

  it('writes a batch whose answer was lost under the same name, so nothing is twice', async () => {
    const { add, ledger, counts, bucket } = await open({ timeout: '500ms' });
    proxy.weather = 'blackhole';
    add(2);
    const flushed = ledger.flush();
    await until('two failures', () => counts.retries >= 2, 30_000);
    proxy.weather = 'clear';
    await flushed;
    expect(counts).to.include({ put: 2, delivered: 2, dropped: 0 });
    expect(await keysOf(bucket)).to.have.length(1);
  });

  it('waits for its bucket', async () => {
    const { add, ledger, counts } = await open({ url: 's3://late-bucket/x' });
    add(1);
    const flushed = ledger.flush();
    await until('a failure', () => counts.retries >= 1);
    expect(counts.waits[0]).to.match(/^s3:\/\/late-bucket\/x\/.*: NoSuchBucket/);
    const bucket = await server.bucket('late-bucket');
    await flushed;
    expect(await idsIn(bucket)).to.deep.equal(['r0']);
  });

  it('works in a process of users, which loads its packages from the bundle', async () => {
    const bucket = await server.bucket('bundled');
    const root = await writeProject({
      'schemas/entities/item.yaml': 'entity: item\n',
      'pipelines/ranking.yaml':
        'pipeline: ranking\nrank: item\nrequest: { candidates: { price: float } }\ncomponents:\n  - { use: score, with: { value: item.price } }\nlog: {}\n',
    });
    const service = await startProcess(['--project', root, '--port', '0'], {
      MILLRACE_STORE: 'embedded',
      MILLRACE_LEDGER_DIR: 's3://bundled/live',
      ...server.env,
    });
    try {
      const body = JSON.stringify({ request_id: 'r1', candidates: [{ item_id: 'a', price: 1 }] });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${service.url}/api/v1/ranking`, { method: 'POST', headers, body });
      expect(answer.status).to.equal(200);
    } finally {
      service.child.kill('SIGTERM');
      await service.ended;
      await rm(root, { recursive: true, force: true });
    }
    expect(await keysOf(bucket, 'live/')).to.have.length(1);
    expect(await idsIn(bucket)).to.deep.equal(['r1']);
  });

  it('asks the server for validate --connect', async () => {
    await server.bucket('asked');
    const ask = async (url: string): Promise<string | undefined> =>
      (await createSink(plugin, { ...DEFAULTS, url })).probe?.ask(new AbortController().signal);
    expect(await ask('s3://asked/x')).to.equal('it answers, and has no segment yet');
    expect(await ask('s3://not-there').catch(String)).to.match(/NoSuchBucket/);
  });

  for (const [title, options, message, context] of [
    ['a wrong age', { segment: '2h' }, '`2h` is not a time from 200ms to 3600s', {}],
    ['a wrong size', { segment_bytes: '1GB' }, 'is not a size from 1MB to 64MB', {}],
    ['a wrong address', { endpoint: 'minio:9000' }, 'is not a URL such as', {}],
    ['dots in a key', { url: 's3://bucket/../other' }, 'is not a path of objects', {}],
    ['no path', { url: undefined }, 'the sink has no `url`', { folder: '/data/ledger' }],
    [
      'no package',
      {},
      'needs the npm package aws4fetch, which is not installed',
      { findPackage: () => undefined },
    ],
  ] as const)
    it(`refuses ${title}`, async () => {
      const given = { ...DEFAULTS, url: 's3://bucket/x', ...options };
      const made = await createSink(plugin, given, context).then(
        () => 'nothing',
        (error: unknown) => (error as Error).message,
      );
      expect(made).to.include(message);
    });

  describe('as every sink', () => {
    for (const { name, run } of sinkTests(plugin, {
      with: { url: 's3://conformance/x' },
      findPackage: packageFinder(repositoryPath()),
      received: async () => {
        const bucket = new (await import('../../runtime/ground/core/bucket.js')).Bucket('conformance');
        const bodies: string[] = [];
        for (const key of await keysOf(bucket)) bodies.push(String(await bucket.readWhole(key, MOST)));
        return bodies.join('').split('\n').filter(Boolean);
      },
    }))
      it(name, async () => {
        await server.bucket('conformance');
        await run();
      });
  });
});

const DEFAULTS = { segment: '60s', segment_bytes: '8MB', timeout: '5s' };
