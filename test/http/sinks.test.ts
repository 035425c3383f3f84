import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { startCollector, type Collector } from '../support/collector.js';
import { requestIdsIn } from '../support/sink-ledger.js';
import { serveFiles, type ServedProject } from '../support/served-project.js';
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

  async function serve(files: Readonly<Record<string, string>>): Promise<ServedProject> {
    const all = {
      'schemas/entities/item.yaml': 'entity: item\n',
      'pipelines/ranking.yaml': PIPELINE,
      ...files,
    };
    served = await serveFiles(all, undefined, { MILLRACE_SINK_HOSTS: '127.0.0.1' });
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
