import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { sink as plugin } from '../../../../plugins/http/index.js';
import { startCollector, type Collector } from '../../../support/collector.js';
import { createSink, requestIdsIn, sinkLedger, type SinkLedger } from '../../../support/sink-ledger.js';
import { until } from '../../../support/until.js';

describe('the http sink', () => {
  let collector: Collector;
  let opened: SinkLedger[];
  beforeEach(async () => {
    collector = await startCollector();
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map(({ ledger }) => ledger.close(0)));
    await collector.close();
  });

  async function open(options: object = {}, format: 'columns' | 'events' = 'columns'): Promise<SinkLedger> {
    const given = { url: `${collector.url}/records`, ...options };
    const sink = await createSink(plugin, given, { allowed: `127.0.0.1:${collector.port}`, format });
    const one = sinkLedger(sink, { format });
    opened.push(one);
    return one;
  }

  const ids = (): string[] => collector.taken.flatMap(({ body }) => requestIdsIn(body));

  it('sends batches to its address, with its headers', async () => {
    const { add, ledger, counts } = await open({
      url: `${collector.url}/records/?source=shop?2`,
      headers: { Authorization: 'Bearer secret' },
    });
    add(3);
    await ledger.flush();
    add(1);
    await ledger.flush();
    expect(collector.taken.map(({ path }) => path)).to.deep.equal([
      '/records/?source=shop?2',
      '/records/?source=shop?2',
    ]);
    expect(collector.taken[0]?.headers).to.deep.include({
      authorization: 'Bearer secret',
      'content-type': 'application/vnd.millrace.records',
    });
    expect(ids()).to.deep.equal(['r0', 'r1', 'r2', 'r3']);
    expect(counts).to.include({ put: 4, delivered: 4, dropped: 0, retries: 0 });
  });

  it('sends events as lines of JSON', async () => {
    const { add, ledger } = await open({}, 'events');
    add(2);
    await ledger.flush();
    const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = collector.taken;
    expect(headers['content-type']).to.equal('application/x-ndjson');
    const events = body
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events.map(({ request_id: id }) => id)).to.deep.equal(['r0', 'r1']);
  });

  it('sends a batch again after 429 and 5xx, and waits as Retry-After says', async () => {
    const at: number[] = [];
    collector.reply = () => {
      at.push(performance.now());
      if (at.length === 1) return { status: 429, headers: { 'retry-after': '1' } };
      return at.length === 2 ? { status: 503, body: 'overloaded' } : { status: 200 };
    };
    const { add, ledger, counts } = await open();
    add(2);
    await ledger.flush();
    expect((at[1] ?? 0) - (at[0] ?? 0)).to.be.within(990, 3000);
    expect(ids()).to.deep.equal(['r0', 'r1']);
    expect(counts).to.include({ delivered: 2, dropped: 0, retries: 2 });
    expect(counts.waits).to.deep.equal(['the server answered 429', undefined]);
  });

  it('waits until the date of Retry-After', async () => {
    const at: number[] = [];
    collector.reply = () => {
      at.push(Date.now());
      const later = new Date(Date.now() + 2000).toUTCString();
      return at.length === 1 ? { status: 503, headers: { 'retry-after': later } } : { status: 200 };
    };
    const { add, ledger } = await open();
    add(1);
    await ledger.flush();
    expect((at[1] ?? 0) - (at[0] ?? 0)).to.be.within(900, 3500);
  });

  it('drops the one record that the server refuses', async () => {
    collector.reply = ({ body }) =>
      requestIdsIn(body).includes('r7') ? { status: 422, body: 'not a record' } : { status: 204 };
    const { add, ledger, counts } = await open();
    add(20);
    await ledger.flush();
    expect(counts.drops).to.deep.equal({ refused: 1 });
    expect(counts.delivered).to.equal(19);
    expect(counts.refusals).to.deep.equal(['the server answered 422: not a record']);
    expect(ids()).to.have.length(19);
  });

  it('sends a batch that is too large for the server in smaller parts', async () => {
    collector.reply = ({ body }) => ({ status: body.length > 3000 ? 413 : 204 });
    const { add, ledger, counts } = await open();
    add(20, 1000);
    add(1, 5000);
    await ledger.flush();
    expect(counts.drops).to.deep.equal({ refused: 1 });
    expect(counts).to.include({ put: 21, delivered: 20, retries: 0 });
    expect(ids()).to.deep.equal(Array.from({ length: 20 }, (_, i) => `r${i}`));
  });

  it('does not follow a redirect, and sends the batch again', async () => {
    collector.reply = ({ path }) =>
      path === '/records' && collector.requests < 3
        ? { status: 301, headers: { location: `${collector.url}/elsewhere` } }
        : { status: 204 };
    const { add, ledger, counts } = await open();
    add(2);
    await ledger.flush();
    expect(collector.taken.map(({ path }) => path)).to.deep.equal(['/records']);
    expect(counts.waits).to.deep.equal(['the server answered 301', undefined]);
    expect(counts).to.include({ delivered: 2, dropped: 0 });
  });

  it('sends a batch again after an answer that is not HTTP, cut short, or too slow', async () => {
    const { port } = collector;
    await collector.close();
    const answers = [
      'garbage\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal',
      'HTTP/1.1 200 OK\r\nslow: ',
    ];
    let answered = 0;
    const server = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('data', () => {
          const answer = answers[answered++] ?? '';
          if (!answer.endsWith('slow: ')) socket.end(answer);
          else {
            const timer = setInterval(() => socket.write('x'), 20);
            socket.write(answer);
            socket.once('close', () => clearInterval(timer));
          }
        });
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    const { add, ledger, counts } = await open({ timeout: '300ms' });
    add(2);
    await until('three failures', () => answered > answers.length);
    server.close();
    collector = await startCollector(port);
    await ledger.flush();
    expect(ids()).to.deep.equal(['r0', 'r1']);
    expect(counts).to.include({ put: 2, delivered: 2, dropped: 0 });
  });

  it('does not lose records to a wrong token: it sends them again', async () => {
    let status = 401;
    collector.reply = () => ({ status });
    const { add, ledger, counts } = await open();
    add(2);
    await until('some attempts', () => counts.retries > 2);
    status = 200;
    await ledger.flush();
    expect(counts).to.include({ delivered: 2, dropped: 0 });
  });

  it('gives up a request after its timeout, and reaches a server that comes back', async () => {
    collector.reply = () => (collector.requests === 1 ? 'hang' : { status: 200 });
    const { add, ledger, counts } = await open({ timeout: '150ms' });
    add(1);
    await ledger.flush();
    expect(counts.waits[0]).to.match(/did not answer within 150 ms$/);
    const { port } = collector;
    await collector.close();
    add(2);
    await until('a refused connection', () => counts.retries > 2);
    collector = await startCollector(port);
    await ledger.flush();
    expect(counts).to.include({ put: 3, delivered: 3, dropped: 0 });
  });

  it('is only made for an allowed host, with headers that HTTP can have', async () => {
    const fault = async (options: object): Promise<string> => {
      try {
        await open(options);
      } catch (error) {
        return (error as Error).message;
      }
      return 'no fault';
    };
    expect(await fault({ url: 'http://elsewhere:80/records' })).to.equal(
      'the host elsewhere:80 is not allowed; allow it with the setting MILLRACE_SINK_HOSTS, e.g. MILLRACE_SINK_HOSTS=elsewhere:80',
    );
    expect(await fault({ headers: { 'Content-Type': 'text/plain' } })).to.equal(
      '`Content-Type` is not a header that an option can set',
    );
    expect(await fault({ headers: { 'X-A': 'geheim\n' } })).to.equal(
      'the value of `X-A` has characters that a header cannot hold',
    );
    expect(await fault({ timeout: 'soon' })).to.equal('`soon` is not a time');
    expect(await fault({ url: 'collector' })).to.match(/is not a URL/);
  });
});
