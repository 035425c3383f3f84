import { expect } from 'chai';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Sink } from '../../../../runtime/ground/api/ledger.js';
import { readReport } from '../../../../runtime/state/ledger/frame-splitter.js';
import { readRecords } from '../../../../runtime/state/ledger/record-reader.js';
import { schemaFrame } from '../../../../runtime/state/ledger/schema-frame.js';
import {
  closeMark,
  segmentFiles,
  segmentPath,
  segmentPaths,
} from '../../../../runtime/ground/sdk/segments.js';
import { sink as plugin } from '../../../../plugins/file/index.js';
import { createSink, sinkLedger, SMALL_RANKING, type SinkLedger } from '../../../support/sink-ledger.js';
import { until } from '../../../support/until.js';

const DAY = 86_400_000;
const OTHER = '11111111-1111-1111-1111-111111111111';

describe('the file sink', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ledger-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const open = (options: object = {}, context: object = {}): Promise<Sink> =>
    createSink(plugin, options, { name: 'file', folder, keepMs: 30 * DAY, keepBytes: 2 ** 40, ...context });
  const ledgerOf = async (options: object = {}, context: object = {}): Promise<SinkLedger> =>
    sinkLedger(await open(options, context));
  async function idsIn(path: string): Promise<string[]> {
    const ids: string[] = [];
    const report = readReport();
    for await (const record of readRecords(path, report)) ids.push(String(record.field('request_id')?.at(0)));
    expect(report).to.include({ torn: 0, damaged: 0, skipped: 0 });
    return ids;
  }
  /** A segment of another process, last written to so many milliseconds ago. */
  async function foreign(number: number, bytes: number, age: number): Promise<string> {
    const time = Date.now() - age;
    const path = segmentPath(folder, OTHER, number, time);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, Buffer.alloc(bytes));
    await utimes(path, time / 1000, time / 1000);
    return path;
  }

  it('writes each schema once a segment, and every segment is readable alone', async () => {
    const { ledger, add } = await ledgerOf();
    for (let round = 0; round < 3; round++) {
      add(2);
      await ledger.flush();
    }
    await ledger.rotate();
    add(1);
    await ledger.close(1000);
    const paths = await segmentPaths(folder);
    expect(paths.map((path) => path.slice(folder.length))).to.have.length(2);
    expect(paths[0]).to.match(/\/\d{4}-\d\d-\d\d\/[0-9a-f-]{36}-000001\.mlr$/);
    expect(await Promise.all(paths.map(idsIn))).to.deep.equal([['r0', 'r1', 'r2', 'r3', 'r4', 'r5'], ['r6']]);
    const [first = '', second = ''] = paths;
    const schema = schemaFrame(SMALL_RANKING).length;
    expect((await stat(first)).size - schema).to.equal(6 * ((await stat(second)).size - schema));
    // A closed segment is sealed, so that a ledger that was just stopped can be compacted.
    expect((await stat(first)).mode & 0o777).to.equal(0o400);
    expect((await segmentFiles(folder)).map(({ isClosed }) => isClosed)).to.deep.equal([true, true]);
  });

  it('makes records readable while it writes', async () => {
    const { ledger, add } = await ledgerOf();
    add(3);
    await ledger.flush();
    expect(await idsIn(folder)).to.deep.equal(['r0', 'r1', 'r2']);
    await ledger.close(1000);
  });

  it('starts another segment when a mark asks for it, and removes the mark', async () => {
    const { ledger, add } = await ledgerOf();
    add(1);
    await ledger.flush();
    const [first = ''] = await segmentPaths(folder);
    await writeFile(closeMark(first), '');
    add(1);
    await ledger.close(1000);
    expect(await segmentPaths(folder)).to.have.length(2);
    expect(await readdir(dirname(first))).to.have.length(2);
    expect(await idsIn(first)).to.deep.equal(['r0']);
  });

  it('shares a folder with another sink of the same process', async () => {
    const [one, two] = [await ledgerOf({}, { name: 'file' }), await ledgerOf({}, { name: 'long_term' })];
    one.add(1);
    two.add(1);
    await Promise.all([one.ledger.flush(), two.ledger.flush()]);
    expect((await segmentFiles(folder)).filter(({ isClosed }) => isClosed)).to.deep.equal([]);
    await Promise.all([one.ledger.close(1000), two.ledger.close(1000)]);
    expect(await idsIn(folder)).to.deep.equal(['r0', 'r0']);
  });

  it('deletes segments that are too old, then the oldest until the folder is small enough, and their days', async () => {
    await foreign(1, 100, 40 * DAY);
    await foreign(2, 2 ** 20, 3 * DAY);
    const kept = await foreign(3, 2 ** 20, 2 * DAY);
    const { ledger, add } = await ledgerOf({ keep: '30d', bytes: '1.5MB' });
    add(1);
    await ledger.close(1000);
    const left = await segmentPaths(folder);
    expect(left).to.include(kept).and.to.have.length(2);
    expect(await readdir(folder)).to.have.length(2);
  });

  it('deletes no segment that its writer may still use', async () => {
    const closed = await foreign(1, 2 ** 20, 10 * 60_000);
    const used = await foreign(2, 2 ** 20, 10 * 60_000);
    const { ledger, add } = await ledgerOf({ bytes: '1MB' });
    add(1);
    await ledger.close(1000);
    expect(await segmentPaths(folder))
      .to.include(used)
      .and.not.to.include(closed);
  });

  it('knows which segments are closed: a later one of the same process, or nobody wrote for an hour', async () => {
    const paths = [
      await foreign(1, 8, 60_000),
      await foreign(2, 8, 1000),
      await foreign(7, 8, 3 * 3_600_000),
    ];
    const closed = (await segmentFiles(folder)).filter(({ isClosed }) => isClosed).map(({ path }) => path);
    expect(closed).to.have.members([paths[0], paths[1], paths[2]]);
    await rm(paths[2] ?? '');
    expect(
      (await segmentFiles(folder)).filter(({ isClosed }) => !isClosed).map(({ path }) => path),
    ).to.deep.equal([paths[1]]);
  });

  it('tries again when the folder cannot be made, and loses nothing', async () => {
    await writeFile(join(folder, 'blocked'), '');
    const { ledger, add, counts } = await ledgerOf({}, { folder: join(folder, 'blocked', 'ledger') });
    add(2);
    const flushed = ledger.flush();
    while (counts.retries < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    await rm(join(folder, 'blocked'));
    await flushed;
    await ledger.close(1000);
    expect(counts.dropped).to.equal(0);
    expect(await idsIn(join(folder, 'blocked'))).to.deep.equal(['r0', 'r1']);
  });

  it('makes a folder that does not exist, with its parents', async () => {
    const deep = join(folder, 'a', 'b', 'ledger');
    const { ledger, add } = await ledgerOf({}, { folder: deep });
    add(1);
    await ledger.close(1000);
    expect(await idsIn(deep)).to.deep.equal(['r0']);
  });

  it('tries again when the folder or that of the day is a file, and loses nothing', async () => {
    const day = dirname(segmentPath(folder, OTHER, 1, Date.now()));
    for (const path of [day, folder]) {
      await rm(path, { recursive: true, force: true });
      await writeFile(path, '');
      const { ledger, add, counts } = await ledgerOf();
      add(2);
      const flushed = ledger.flush();
      await until('two failures', () => counts.retries >= 2);
      await rm(path);
      await flushed;
      await ledger.close(1000);
      expect(counts).to.include({ delivered: 2, dropped: 0 });
      expect(await idsIn(folder)).to.deep.equal(['r0', 'r1']);
    }
  });

  it('waits while it may not write into the folder, and loses nothing', async () => {
    await chmod(folder, 0o555);
    const root = process.geteuid?.() === 0;
    const { ledger, add, counts } = await ledgerOf();
    if (root) process.seteuid?.('nobody'); // nothing is read-only for root
    try {
      add(2);
      await until('two failures', () => counts.retries >= 2);
    } finally {
      if (root) process.seteuid?.(0);
    }
    expect(counts.waits[0]).to.match(/^cannot write /);
    await chmod(folder, 0o755);
    await ledger.close(5000);
    expect(counts).to.include({ delivered: 2, dropped: 0 });
  });

  it('starts another segment when its own was deleted', async () => {
    const { ledger, add } = await ledgerOf();
    add(1);
    await ledger.flush();
    await rm(folder, { recursive: true });
    add(1);
    await ledger.close(1000);
    expect(await idsIn(folder)).to.deep.equal(['r1']);
  });

  it('refuses options that mean nothing', async () => {
    for (const [options, message] of [
      [{ keep: '5s' }, 'is not a time of at least 1m'],
      [{ bytes: '1 GB' }, 'is not a size of at least 1MB'],
    ] as const) {
      const error = await open(options).catch((reason: unknown) => reason);
      expect(String(error)).to.contain(message);
    }
    const error = await open({}, { format: 'events' }).catch((reason: unknown) => reason);
    expect(String(error)).to.contain('columns only');
  });
});
