import { expect } from 'chai';
import fc from 'fast-check';
import { MillraceError, type Violation } from '../../../../runtime/ground/api/errors.js';
import type { Input } from '../../../../runtime/project/rows/open-input.js';
import { InputError, type InputRow, type RowChunk } from '../../../../runtime/project/rows/rows.js';
import type { RowOrder } from '../../../../runtime/cli/load/batches.js';
import { loadRows, type LoadReport } from '../../../../runtime/cli/load/load-rows.js';
import type { Send } from '../../../../runtime/state/index/send-batch.js';

const FREE: RowOrder = { idOf: () => undefined, isOrdered: () => false };
const BY_ID: RowOrder = { idOf, isOrdered: () => false };

function row(line: number, id: number | string = line, bytes = 10): InputRow {
  return { line, value: { id, line }, bytes };
}

function idOf(item: InputRow): string {
  return JSON.stringify(item.value.id);
}

function rows(count: number): InputRow[] {
  return Array.from({ length: count }, (_, at) => row(at + 1));
}

function inputOf(chunks: readonly RowChunk[], failure?: Error): Input {
  return {
    unit: 'line',
    totalBytes: undefined,
    misspelt: () => [],
    undeclared: () => [],
    bytesRead: () => 0,
    close: () => Promise.resolve(),
    async *chunks() {
      for (const chunk of chunks) {
        await Promise.resolve();
        yield chunk;
      }
      if (failure !== undefined) throw failure;
    },
  };
}

async function load(
  items: readonly InputRow[],
  send: Send<InputRow>,
  order: RowOrder = FREE,
): Promise<LoadReport> {
  return loadRows(
    inputOf([{ rows: items, bad: [] }]),
    { order, send },
    {
      update: () => undefined,
      stop: () => undefined,
    },
  );
}

/** A service that rejects some rows, and reports at most `told` violations at a time. */
function refusing(isBad: (item: InputRow) => boolean, stored: InputRow[], told = 50): Send<InputRow> {
  return (items) => {
    const violations: Violation[] = items.flatMap((item, at) =>
      isBad(item) ? [{ pointer: `/entities/${at}/price`, code: 'wrong_type', detail: 'expected float' }] : [],
    );
    if (violations.length > 0)
      return Promise.reject(
        new MillraceError('invalid_body', 'bad', { violations: violations.slice(0, told) }),
      );
    stored.push(...items);
    return Promise.resolve({ older: 0 });
  };
}

describe('loading rows', () => {
  it('sends at most 1,000 rows and 4 MB at a time, and each row once', async () => {
    const sizes: number[] = [];
    const report = await load(rows(2500), (items) => {
      sizes.push(items.length);
      return Promise.resolve({ older: 0 });
    });
    expect(sizes).to.deep.equal([1000, 1000, 500]);
    expect(report).to.include({ loaded: 2500, refused: 0, failure: undefined });
    const heavy = [1, 2, 3].map((line) => row(line, line, 1.5 * 1024 * 1024));
    sizes.length = 0;
    await load(heavy, (items) => {
      sizes.push(items.length);
      return Promise.resolve({ older: 0 });
    });
    expect(sizes).to.deep.equal([2, 1]);
  });

  it('sends at most as many rows at a time as the target allows, and keeps only the requested part of each row', async () => {
    const sent: (readonly InputRow[])[] = [];
    const send: Send<InputRow> = (items) => {
      sent.push(items);
      return Promise.resolve({ older: 0 });
    };
    const items = Array.from({ length: 23 }, (_, i) => row(i));
    const keep = (one: InputRow): InputRow => ({ ...one, value: { kept: one.line } });
    const progress = { update: () => undefined, stop: () => undefined };
    const input = inputOf([{ rows: items, bad: [] }]);
    const report = await loadRows(input, { order: FREE, send, shape: { rows: 10, keep } }, progress);
    expect(report.loaded).to.equal(23);
    expect(sent.map(({ length }) => length)).to.deep.equal([10, 10, 3]);
    expect(sent.flat()).to.deep.equal(items.map(keep));
  });

  it('has at most two batches in flight', async () => {
    let now = 0;
    let most = 0;
    await load(rows(6000), async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return { older: 0 };
    });
    expect(most).to.equal(2);
  });

  it('does not read ahead of the batches in flight, however long the file is', async () => {
    let read = 0;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const input: Input = {
      unit: 'line',
      totalBytes: undefined,
      misspelt: () => [],
      undeclared: () => [],
      bytesRead: () => 0,
      close: () => Promise.resolve(),
      async *chunks() {
        for (; read < 20_000; read += 100) {
          await Promise.resolve();
          yield { rows: Array.from({ length: 100 }, (_, i) => row(read + i + 1)), bad: [] };
        }
      },
    };
    const silent = { update: () => undefined, stop: () => undefined };
    const loading = loadRows(input, { order: FREE, send: () => held.then(() => ({ older: 0 })) }, silent);
    for (let turn = 0; turn < 500; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(read).to.be.at.most(4000);
    release();
    expect((await loading).loaded).to.equal(20_000);
  });

  it('loads every good row and reports every bad row, however many violations the service reports at a time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        async (flags, told) => {
          const stored: InputRow[] = [];
          const items = rows(flags.length);
          const report = await load(
            items,
            refusing((item) => flags[item.line - 1] === false, stored, told),
          );
          expect(stored.map((item) => item.line)).to.deep.equal(
            items.flatMap(({ line }) => (flags[line - 1] ? [line] : [])),
          );
          expect(report.refused).to.equal(flags.filter((good) => !good).length);
          expect(report.loaded).to.equal(stored.length);
          expect(report.failure).to.equal(undefined);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('reports the line, the place and the reason of the first 20 bad rows, and counts all bad rows', async () => {
    const report = await load(
      rows(1500),
      refusing((item) => item.line % 2 === 0, []),
    );
    expect(report.refused).to.equal(750);
    expect(report.bad).to.have.length(20);
    expect(report.bad.map((bad) => bad.line)).to.deep.equal(
      Array.from({ length: 20 }, (_, at) => 2 * at + 2),
    );
    expect(report.bad[0]?.problem).to.equal('/price: expected float');
  });

  it('stops at an error that no row caused, and reports its progress', async () => {
    let calls = 0;
    const report = await load(rows(5000), () => {
      calls += 1;
      return calls < 3
        ? Promise.resolve({ older: 0 })
        : Promise.reject(new MillraceError('store_unavailable', 'no answer'));
    });
    expect(report.failure).to.be.instanceOf(MillraceError);
    expect(report.loaded).to.equal(2000);
    expect(calls).to.be.at.most(4);
  });

  it('stops if a rejection names no row', async () => {
    const violations = [{ pointer: '/entity_key', code: 'wrong_type', detail: 'expected a name' }];
    let calls = 0;
    const report = await load(rows(10), () => {
      calls += 1;
      return Promise.reject(new MillraceError('invalid_body', 'bad', { violations }));
    });
    expect(calls).to.equal(1);
    expect(report.failure?.message).to.equal('bad');
  });

  it('splits a body that is too large into halves', async () => {
    const stored: number[] = [];
    const report = await load(rows(100), (items) => {
      if (items.length > 30 || items.some((item) => item.line === 7))
        return Promise.reject(new MillraceError('body_too_large', 'more than 1 MB'));
      stored.push(...items.map((item) => item.line));
      return Promise.resolve({ older: 0 });
    });
    expect(stored).to.have.length(99);
    expect(report.bad).to.deep.equal([{ line: 7, problem: 'more than 1 MB' }]);
  });

  it('stores the last of several rows with the same id, although batches are in flight at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 60 }), async (ids) => {
        const stored = new Map<string, number>();
        const items = ids.map((id, at) => row(at + 1, id));
        let turn = 0;
        const report = await load(
          items,
          async (batch) => {
            expect(new Set(batch.map((item) => item.value.id)).size).to.equal(batch.length);
            turn += 1;
            // Every other batch is slow, so an unordered loader would store it late.
            for (let wait = 0; wait < (turn % 2) * 4; wait += 1)
              await new Promise((resolve) => setImmediate(resolve));
            for (const item of batch) stored.set(idOf(item), item.line);
            return { older: 0 };
          },
          BY_ID,
        );
        expect(report.loaded).to.equal(ids.length);
        for (const id of new Set(ids))
          expect(stored.get(JSON.stringify(id))).to.equal(ids.lastIndexOf(id) + 1);
      }),
      { numRuns: 30 },
    );
  });

  it('sends rows that must not overtake each other in sequential batches', async () => {
    let now = 0;
    let most = 0;
    await load(
      rows(4000),
      async () => {
        now += 1;
        most = Math.max(most, now);
        await new Promise((resolve) => setImmediate(resolve));
        now -= 1;
        return { older: 0 };
      },
      { idOf: () => undefined, isOrdered: () => true },
    );
    expect(most).to.equal(1);
  });

  it('keeps the loaded rows if the file is incomplete', async () => {
    const input = inputOf(
      [{ rows: rows(1200), bad: [{ line: 9, problem: 'not JSON' }] }],
      new InputError('cut short'),
    );
    const report = await loadRows(
      input,
      { order: FREE, send: () => Promise.resolve({ older: 1 }) },
      {
        update: () => undefined,
        stop: () => undefined,
      },
    );
    expect(report.failure?.message).to.equal('cut short');
    expect(report).to.include({ loaded: 1198, older: 2, refused: 1 });
  });
});
