import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readBytes } from '../../runtime/state/ledger/record-reader.js';
import { startCollector, type Collector } from '../support/collector.js';
import { requestIdsIn } from '../support/sink-ledger.js';
import { serveFiles, type ServedProject } from '../support/served-project.js';
import { freePort } from '../support/redis-server.js';
import { startProcess } from '../support/service-process.js';
import { writeProject } from '../support/project.js';
import { until } from '../support/until.js';

const PIPELINE = `pipeline: ranking
rank: item
request: { candidates: { price: float } }
components:
  - use: score
    with: { value: item.price }
log: { candidates: all, features: all }
`;

const sink = (url: string, more = ''): string =>
  `sink: out\nuse: http\ntake: [ranking]\n${more}with: { url: "${url}/records" }\n`;

/** Requests of a service arrive at the sinks of its project. */
describe('the sinks of a service', () => {
  let collectors: Collector[];
  let served: ServedProject | undefined;

  beforeEach(() => {
    collectors = [];
    served = undefined;
  });
  afterEach(async () => {
    await served?.close();
    await Promise.all(collectors.map((one) => one.close()));
  });

  async function collector(): Promise<Collector> {
    const one = await startCollector();
    collectors.push(one);
    return one;
  }

  async function serve(
    files: Readonly<Record<string, string>>,
    env: Readonly<Record<string, string>> = {},
  ): Promise<ServedProject> {
    const all = {
      'schemas/entities/item.yaml': 'entity: item\n',
      'pipelines/ranking.yaml': PIPELINE,
      ...files,
    };
    served = await serveFiles(all, undefined, { MILLRACE_SINK_HOSTS: '127.0.0.1', ...env });
    return served;
  }

  async function rank(service: ServedProject, id: string): Promise<void> {
    const candidates = ['a', 'b'].map((item_id, price) => ({ item_id, price }));
    expect((await service.post('/api/v1/ranking', { request_id: id, candidates })).status).to.equal(200);
  }

  const idsAt = ({ taken }: Collector): string[] => taken.flatMap(({ body }) => requestIdsIn(body));

  it('get the rankings, and the rest when the service ends', async () => {
    const out = await collector();
    const service = await serve({ 'sinks/out.yaml': sink(out.url) });
    await rank(service, 'r1');
    await until('the record', () => out.taken.length === 1);
    expect(idsAt(out)).to.deep.equal(['r1']);
    await rank(service, 'r2');
    await service.close();
    served = undefined;
    expect(idsAt(out)).to.deep.equal(['r1', 'r2']);
  });

  it('never delay a request, and show in the metrics what they dropped', async () => {
    const out = await collector();
    out.reply = () => 'hang';
    const service = await serve({ 'sinks/out.yaml': sink(out.url, 'queue: 1MB\n') });
    const began = performance.now();
    for (let i = 0; i < 20; i++) await rank(service, `r${i}`);
    expect(performance.now() - began).to.be.below(5000);
    const metrics = await service.get('/metrics');
    expect(metrics).to.match(/millrace_ledger_records_total\{kind="ranking"\} 20/);
    expect(metrics).to.match(/millrace_ledger_queue_bytes\{sink="out"\} [1-9]/);
  });

  it('follow a changed file, and lose nothing', async () => {
    const [wrong, right] = [await collector(), await collector()];
    wrong.reply = () => ({ status: 503 });
    const service = await serve({ 'sinks/out.yaml': sink(wrong.url) });
    await rank(service, 'r1');
    await until('a refusal', () => wrong.requests > 0);
    await service.edit('sinks/out.yaml', sink(right.url));
    expect((await service.app.reload()).outcome).to.equal('succeeded');
    await rank(service, 'r2');
    await until('the records', () => idsAt(right).length === 2);
    expect(idsAt(right)).to.deep.equal(['r1', 'r2']);
    expect(wrong.taken).to.deep.equal([]);
  });

  it('go on as they are if another file changes', async () => {
    const [first, second] = [await collector(), await collector()];
    const service = await serve({ 'sinks/out.yaml': sink(first.url) });
    await rank(service, 'r1');
    await service.edit('sinks/more.yaml', sink(second.url).replace('sink: out', 'sink: more'));
    await service.app.reload();
    await rank(service, 'r2');
    await until('both', () => idsAt(first).length === 2 && idsAt(second).length === 1);
    expect(idsAt(second)).to.deep.equal(['r2']);
    // One process has one instance id and one numbering, whatever is reloaded.
    const sequences = first.taken.map(({ body }) => body.length);
    expect(sequences.length).to.be.above(0);
  });

  it('have feedback before it is answered, where the project says `acknowledge: stored`', async () => {
    const out = await collector();
    const files = {
      'schemas/entities/user.yaml': 'entity: user\n',
      'sinks/out.yaml': sink(out.url).replace('ranking', 'feedback'),
    };
    const service = await serve(files, { MILLRACE_ACKNOWLEDGE: 'stored' });
    const send = (item_id: string): ReturnType<ServedProject['post']> =>
      service.post('/api/v1/feedback', {
        ...{ request_id: 'r1', user: { user_id: 'u1' } },
        events: [{ type: 'click', item: { item_id } }],
      });
    const all = await Promise.all(['a', 'b', 'c'].map(send));
    expect(all.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(idsAt(out)).to.deep.equal(['r1', 'r1', 'r1']);
    out.reply = () => ({ status: 503 });
    const refused = await send('d');
    expect(refused.status).to.equal(503);
    expect(refused.json).to.include({ code: 'feedback_not_stored' });
    out.reply = () => ({ status: 204 });
    // After a refusal, the sink waits before it sends again.
    await until('feedback that is stored again', async () => (await send('d')).status === 200);
  });

  it('get the records of several pipelines, each with the schema of its pipeline', async () => {
    const out = await collector();
    const service = await serve({
      'sinks/out.yaml': sink(out.url),
      'pipelines/other.yaml': PIPELINE.replace('pipeline: ranking', 'pipeline: other'),
    });
    const candidates = [{ item_id: 'a', price: 1 }];
    for (const [path, request_id] of [
      ['ranking', 'r1'],
      ['other', 'r2'],
      ['ranking', 'r3'],
    ] as const)
      expect((await service.post(`/api/v1/${path}`, { request_id, candidates })).status).to.equal(200);
    await until('the records', () => idsAt(out).length === 3);
    const found = out.taken.flatMap(({ body }) =>
      Array.from(readBytes(body), (record) => [
        record.schema.meta['pipeline'],
        String(record.field('request_id')?.at(0)),
        record.sequence,
      ]),
    );
    expect(found).to.deep.equal([
      ['ranking', 'r1', 1],
      ['other', 'r2', 2],
      ['ranking', 'r3', 3],
    ]);
  });

  it('get what waits after their file was removed, and nothing more', async () => {
    const out = await collector();
    out.reply = () => ({ status: 503 });
    const service = await serve({ 'sinks/out.yaml': sink(out.url) });
    await rank(service, 'r1');
    await until('a refusal', () => out.requests > 0);
    await rm(join(service.root, 'sinks/out.yaml'));
    await service.edit(
      'sinks/more.yaml',
      sink(out.url).replace('sink: out', 'sink: more').replace('ranking]', 'history]'),
    );
    expect((await service.app.reload()).outcome).to.equal('succeeded');
    await rank(service, 'r2');
    out.reply = () => ({ status: 204 });
    await until('the record', () => out.taken.length > 0);
    await service.close();
    served = undefined;
    expect(idsAt(out)).to.deep.equal(['r1']);
  });

  it('leave the service ready while they are broken, and the metrics and the log show it', async () => {
    const out = await collector();
    out.reply = () => ({ status: 500, body: 'broken' });
    const service = await serve({ 'sinks/out.yaml': sink(out.url) });
    await rank(service, 'r1');
    await until('two attempts', () => out.requests > 1);
    const ready = await fetch(`${service.url}/readyz`);
    expect(ready.status).to.equal(200);
    const metrics = await service.get('/metrics');
    expect(metrics).to.match(/millrace_ledger_retries_total\{sink="out"\} [1-9]/);
    expect(metrics).to.match(/millrace_ledger_queue_bytes\{sink="out"\} [1-9]/);
    expect(metrics).not.to.match(/millrace_ledger_last_write_timestamp_seconds\{sink="out"\}/);
    const said = (): string[] => service.log.map(({ msg }) => msg).filter((msg) => msg.includes('the sink'));
    const waiting = 'the sink does not take records, so they wait; requests are not affected';
    expect(said()).to.deep.equal([waiting]);
    out.reply = () => ({ status: 204 });
    await until('the record', () => out.taken.length > 0);
    await until('the line', () => said().length === 2);
    expect(said()).to.deep.equal([waiting, 'the sink takes records again']);
  });

  it('do not hold up SIGTERM if they are dead, and the log counts what they lost', async function () {
    this.timeout(30_000);
    const out = await collector();
    out.reply = () => 'hang';
    const dead = await freePort();
    const root = await writeProject({
      'schemas/entities/item.yaml': 'entity: item\n',
      'pipelines/ranking.yaml': PIPELINE,
      'sinks/out.yaml': sink(out.url),
      'sinks/live.yaml': `sink: live\nuse: redis_stream\nwith: { url: "redis://127.0.0.1:${dead}", stream: s }\n`,
      'sinks/topic.yaml': `sink: topic\nuse: kafka\nwith: { brokers: ["127.0.0.1:${dead}"], topic: t }\n`,
      'sinks/disk.yaml': 'sink: disk\nuse: file\n',
      blocked: '',
    });
    const service = await startProcess(['--project', root, '--port', '0'], {
      MILLRACE_STORE: 'embedded',
      MILLRACE_LAME_DUCK_MS: '0',
      MILLRACE_SINK_HOSTS: '127.0.0.1',
      MILLRACE_LEDGER_DIR: join(root, 'blocked'),
    });
    const candidates = [{ item_id: 'a', price: 1 }];
    for (let i = 0; i < 5; i++) {
      const answer = await fetch(`${service.url}/api/v1/ranking`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ request_id: `r${i}`, candidates }),
      });
      expect(answer.status).to.equal(200);
      await pause(100);
    }
    const began = performance.now();
    service.child.kill('SIGTERM');
    expect(await service.ended).to.equal(0);
    // 2 s for the last records, and at most 1.5 s until attempts and sinks have ended.
    expect(performance.now() - began).to.be.below(8000);
    await rm(root, { recursive: true });
    const lost: Record<string, number> = {};
    for (const { msg, sink: name, records } of service.lines)
      if (msg === 'the sink was closed before it took these records, which are lost')
        lost[String(name)] = (lost[String(name)] ?? 0) + Number(records);
    expect(lost).to.deep.equal({ out: 5, live: 5, topic: 5, disk: 5 });
  });

  it('keep what serves if a changed file is wrong', async () => {
    const out = await collector();
    const service = await serve({ 'sinks/out.yaml': sink(out.url) });
    await service.edit('sinks/out.yaml', sink(out.url).replace('use: http', 'use: htp'));
    expect((await service.app.reload()).outcome).to.equal('failed');
    await rank(service, 'r1');
    await until('the record', () => idsAt(out).length === 1);
    await pause(1);
  });
});
