import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { SinkError, type RecordBatch, type Sink } from '../../../../runtime/ground/api/ledger.js';
import { bindingOf, requestIdsIn, sinkLedger } from '../../../support/sink-ledger.js';
import { until } from '../../../support/until.js';

/** A sink in memory. `fault` may throw for a batch. */
class MemorySink implements Sink {
  readonly ids: string[] = [];
  readonly batches: RecordBatch[] = [];
  inFlight = 0;
  isClosed = false;

  constructor(
    private readonly fault: (batch: RecordBatch, signal: AbortSignal) => unknown = () => undefined,
    readonly batchBytes = 2 ** 20,
  ) {}

  async write(batch: RecordBatch, signal: AbortSignal): Promise<void> {
    expect(++this.inFlight, 'writes at a time').to.equal(1);
    try {
      await this.fault(batch, signal);
      this.batches.push(batch);
      if (batch.format === 'columns') this.ids.push(...requestIdsIn(batch.body()));
    } finally {
      this.inFlight--;
    }
  }

  close(): void {
    this.isClosed = true;
  }
}

const idsUntil = (end: number): string[] => Array.from({ length: end }, (_, i) => `r${i}`);

describe('a sink of a plugin', () => {
  it('gets batches that are readable alone, and is closed', async () => {
    const plugin = new MemorySink();
    const { ledger, add, counts } = sinkLedger(plugin);
    add(3);
    await ledger.flush();
    add(2);
    await ledger.close(1000);
    expect(plugin.ids).to.deep.equal(idsUntil(5));
    expect(plugin.batches).to.have.length(2);
    expect(plugin.isClosed).to.equal(true);
    expect(counts).to.include({ put: 5, delivered: 5, dropped: 0 });
    const [first] = plugin.batches;
    expect(first).to.include({ count: 3, contentType: 'application/vnd.millrace.records' });
    expect(first?.kinds).to.deep.equal(['ranking']);
    expect(first?.schemas().size).to.equal(1);
    expect(first?.frames()).to.have.length(3);
  });

  it('gets single messages with their keys, each readable alone', async () => {
    const seen: unknown[] = [];
    const plugin = new MemorySink((batch) => {
      for (const { kind, requestId, unit, bytes } of batch.messages())
        seen.push([kind, requestId, unit, requestIdsIn(bytes)]);
    });
    const { ledger, add } = sinkLedger(plugin);
    add(2);
    await ledger.close(1000);
    expect(seen).to.deep.equal([
      ['ranking', 'r0', 'ur0', ['r0']],
      ['ranking', 'r1', 'ur1', ['r1']],
    ]);
  });

  it('gets batches of at most its size, and a larger record alone', async () => {
    const plugin = new MemorySink(undefined, 4000);
    const { ledger, add } = sinkLedger(plugin);
    add(10, 1500);
    add(1, 9000);
    add(2, 1500);
    await ledger.close(1000);
    expect(plugin.ids).to.deep.equal(idsUntil(13));
    expect(plugin.batches.map(({ count }) => count)).to.deep.equal([2, 2, 2, 2, 2, 1, 2]);
  });

  it('gets a failed batch again until it arrives, with longer and longer pauses', async () => {
    const at: number[] = [];
    const plugin = new MemorySink(() => {
      at.push(performance.now());
      if (at.length < 6) throw new Error('no connection');
    });
    const { ledger, add, counts } = sinkLedger(plugin, { pauseMs: 20 });
    add(3);
    await ledger.flush();
    expect(plugin.ids).to.deep.equal(idsUntil(3));
    expect(counts).to.include({ delivered: 3, dropped: 0, retries: 5 });
    expect(counts.waits).to.deep.equal(['no connection', undefined]);
    const last = (at[5] ?? 0) - (at[4] ?? 0);
    expect(last, 'the pause after the fifth failure').to.be.within(150, 2000);
    await ledger.close(1000);
  });

  it('waits as long as the other side asks', async () => {
    const at: number[] = [];
    const plugin = new MemorySink(() => {
      at.push(performance.now());
      if (at.length === 1) throw new SinkError('busy', { retryAfterMs: 300 });
    });
    const { ledger, add } = sinkLedger(plugin, { pauseMs: 1 });
    add(1);
    await ledger.flush();
    expect((at[1] ?? 0) - (at[0] ?? 0)).to.be.at.least(295);
    await ledger.close(1000);
  });

  it('loses only the record that is refused', async () => {
    const bad = new Set(['r5', 'r6', 'r99']);
    let attempts = 0;
    const plugin = new MemorySink((batch) => {
      attempts++;
      if (requestIdsIn(batch.body()).some((id) => bad.has(id)))
        throw new SinkError('not valid', { lost: 'refused' });
    });
    const { ledger, add, counts } = sinkLedger(plugin);
    add(200);
    await ledger.close(1000);
    expect(plugin.ids).to.deep.equal(idsUntil(200).filter((id) => !bad.has(id)));
    expect(counts).to.include({ put: 200, delivered: 197, retries: 0 });
    expect(counts.drops).to.deep.equal({ refused: 3 });
    expect(counts.refusals).to.deep.equal(Array<string>(3).fill('not valid'));
    expect(attempts).to.be.below(60);
  });

  it('counts the records that arrived before a fault', async () => {
    let isFirst = true;
    const plugin = new MemorySink((batch) => {
      if (!isFirst) return;
      isFirst = false;
      expect(batch.count).to.equal(5);
      throw new SinkError('the disk is full', { lost: 'disk_full', written: 2 });
    });
    const { ledger, add, counts } = sinkLedger(plugin);
    add(5);
    await ledger.close(1000);
    expect(counts.drops).to.deep.equal({ disk_full: 3 });
    expect(counts.delivered).to.equal(2);
  });

  it('drops what its queue cannot hold, and counts every record', async () => {
    let release: () => void = () => undefined;
    const stuck = new Promise<void>((resolve) => (release = resolve));
    const plugin = new MemorySink(() => stuck);
    const { ledger, add, counts } = sinkLedger(plugin, { queueBytes: 2 * 2 ** 20 });
    for (let i = 0; i < 50; i++) {
      add(100, 1000);
      await pause(1);
      expect(ledger.sinks()[0]?.queueBytes).to.be.at.most(2 * 2 ** 20);
    }
    expect(counts.drops.queue_full).to.be.above(1000);
    release();
    await ledger.close(5000);
    expect(counts.put).to.equal(5000);
    expect(counts.delivered + counts.dropped).to.equal(5000);
    expect(plugin.ids).to.have.length(counts.delivered);
  });

  it('is closed in time if it hangs, and what it did not write is counted', async () => {
    const hanging: Sink = {
      write: () => new Promise(() => undefined),
      close: () => new Promise(() => undefined),
    };
    const { ledger, add, counts } = sinkLedger(hanging);
    add(10);
    const began = performance.now();
    await ledger.close(200);
    add(1);
    expect(performance.now() - began).to.be.below(5000);
    expect(counts.drops).to.deep.equal({ shutdown: 11 });
  });

  it('reports how many records it wrote before the shutdown', async () => {
    let writes = 0;
    const plugin = new MemorySink(async (_batch, signal) => {
      if (++writes > 1)
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        });
    }, 4000);
    const { ledger, add, counts } = sinkLedger(plugin);
    add(6, 1500);
    await ledger.close(300);
    expect(counts.delivered).to.equal(2);
    expect(counts.drops).to.deep.equal({ shutdown: 4 });
  });

  it('gives up an attempt that takes too long', async () => {
    let writes = 0;
    const plugin = new MemorySink(async (_batch, signal) => {
      if (++writes > 1) return;
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    });
    const { ledger, add, counts } = sinkLedger(plugin, { attemptMs: 100 });
    add(1);
    await ledger.flush();
    expect(counts.waits).to.deep.equal(['the sink did not write a batch within 0.1 s', undefined]);
    await ledger.close(1000);
  });

  it('can be replaced: nothing that waits is lost', async () => {
    const broken = new MemorySink(() => {
      throw new Error('the wrong address');
    });
    const { ledger, add, counts, sink } = sinkLedger(broken, { pauseMs: 60_000 });
    add(50);
    await until('the first attempt', () => counts.retries > 0);
    add(50);
    const better = new MemorySink();
    await sink.replace(bindingOf(better));
    expect(broken.isClosed).to.equal(true);
    await ledger.close(2000);
    expect(better.ids).to.deep.equal(idsUntil(100));
    expect(counts).to.include({ put: 100, delivered: 100, dropped: 0 });
  });

  it('lets a batch that is being written arrive when it is replaced', async () => {
    const slow = new MemorySink(() => pause(200));
    const { ledger, add, counts, sink } = sinkLedger(slow);
    add(10);
    await until('the write', () => slow.inFlight === 1);
    const better = new MemorySink();
    await sink.replace(bindingOf(better));
    add(1);
    await ledger.close(2000);
    expect(slow.ids).to.deep.equal(idsUntil(10));
    expect(better.ids).to.deep.equal(['r10']);
    expect(counts).to.include({ delivered: 11, dropped: 0 });
  });

  it('can be removed while the service runs: what waits is written first', async () => {
    const plugin = new MemorySink();
    const { ledger, add, counts } = sinkLedger(plugin);
    add(7);
    await ledger.use([], 1000);
    expect(plugin.ids).to.deep.equal(idsUntil(7));
    expect(plugin.isClosed).to.equal(true);
    expect(ledger.takes('ranking')).to.equal(false);
    expect(counts.delivered).to.equal(7);
    await ledger.close(1000);
  });

  it('can be removed just before the shutdown: what waits is written first', async () => {
    const plugin = new MemorySink(() => pause(300));
    const { ledger, add, counts } = sinkLedger(plugin);
    add(7);
    void ledger.use([], 10_000);
    await ledger.close(2000);
    expect(plugin.ids).to.deep.equal(idsUntil(7));
    expect(plugin.isClosed).to.equal(true);
    expect(counts).to.include({ put: 7, delivered: 7, dropped: 0 });
  });

  it('does not delay the shutdown if it hangs and was removed, and what waits is counted', async () => {
    const { ledger, add, counts } = sinkLedger({ write: () => new Promise(() => undefined) });
    add(7);
    void ledger.use([], 60_000);
    const began = performance.now();
    await ledger.close(200);
    expect(performance.now() - began).to.be.below(5000);
    expect(counts.drops).to.deep.equal({ shutdown: 7 });
  });

  it('gets events in batches of at most its size', async () => {
    const bodies: string[] = [];
    const plugin = new MemorySink((batch) => {
      bodies.push(batch.body().toString());
      expect(batch.contentType).to.equal('application/x-ndjson');
    }, 1000);
    const { ledger, add, counts } = sinkLedger(plugin, { format: 'events' });
    add(10);
    await ledger.close(2000);
    expect(counts.delivered).to.equal(10);
    expect(bodies.length).to.be.above(3);
    for (const body of bodies) expect(body.length).to.be.at.most(1000);
    const events = bodies
      .flatMap((body) => body.trim().split('\n'))
      .map((line) => JSON.parse(line) as object);
    expect(events).to.have.length(10);
    expect(events[0]).to.deep.include({ request_id: 'r0', api_source: 'search', event_type: 'FEATURE' });
  });
});
