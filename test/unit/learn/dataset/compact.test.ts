import { expect } from 'chai';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compactLedger } from '../../../../runtime/learn/dataset/compact/compact.js';
import { ledgerStats } from '../../../../runtime/learn/dataset/stats/ledger-stats.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import { recordSchema } from '../../../../runtime/state/ledger/record-schema.js';
import { ImportLedger } from '../../../../runtime/learn/dataset/import/import-ledger.js';
import { withFiles } from '../../../support/temporary-files.js';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const INSTANCE = '00000000-0000-8000-8000-00000000000a';

const RANKING = recordSchema(
  'ranking',
  [
    { name: 'request_id', is: 'field', rows: 'record', type: 'text', nullable: false },
    { name: 'time', is: 'field', rows: 'record', type: 'time', nullable: false },
    { name: 'status', is: 'field', rows: 'record', type: 'text', nullable: false },
    { name: 'entities', is: 'field', rows: 'record', type: 'texts', nullable: false },
    { name: 'query.query', is: 'value', rows: 'record', type: 'text', nullable: true },
    { name: 'candidate_id', is: 'field', rows: 'candidate', type: 'text', nullable: false },
    { name: 'on_page', is: 'field', rows: 'candidate', type: 'bool', nullable: false },
    { name: 'product.price', is: 'value', rows: 'candidate', type: 'float64', nullable: true },
    { name: 'time', is: 'value', rows: 'candidate', type: 'float64', nullable: true },
  ],
  { pipeline: 'search', candidate_type: 'product', pipeline_version: 'v1' },
);
const FEEDBACK = recordSchema(
  'feedback',
  [
    { name: 'received', is: 'field', rows: 'record', type: 'time', nullable: false },
    { name: 'time', is: 'field', rows: 'record', type: 'time', nullable: false },
    { name: 'position', is: 'field', rows: 'record', type: 'int32', nullable: true },
    { name: 'user', is: 'value', rows: 'record', type: 'text', nullable: true },
  ],
  { event: 'click', owners: ['user'] },
);

/** A ledger of one closed segment, with a ranking of two candidates on each day, and a click. */
function writeLedger(folder: string, days: number, code = 'ok'): void {
  const ledger = new ImportLedger(folder, INSTANCE);
  for (let day = 0; day < days; day++)
    ledger.add(RANKING, { candidate: 2, change: 0 }, (writer) => {
      writer.text(`r${day}`);
      writer.time(START + day * DAY);
      writer.text(day === 0 ? code : 'ok');
      writer.texts({ values: ['user=u1', 'query=tv'], offsets: [0, 2] });
      writer.text('tv');
      writer.text(['p1', 'p2']);
      writer.bool([1, 0]);
      writer.float64([2.5, NaN], Uint8Array.of(Status.present, Status.missing_entity));
      writer.float64([1, 2]);
    });
  ledger.add(FEEDBACK, { candidate: 0, change: 0 }, (writer) => {
    writer.time(START + DAY);
    writer.time(START);
    writer.int32(undefined);
    writer.text('u1');
  });
  ledger.finish();
}

async function rowsOf(folder: string): Promise<readonly Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!entry.endsWith('.parquet')) continue;
    const bytes = readFileSync(join(folder, entry));
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    rows.push(...(await parquetReadObjects({ file, compressors })));
  }
  return rows;
}

describe('the compaction of a ledger', () => {
  it('writes requests, candidates and feedback by day, with the names of the records', async () => {
    await withFiles({}, async (root) => {
      const [ledger, out] = [join(root, 'ledger'), join(root, 'out')];
      writeLedger(ledger, 2);
      const report = await compactLedger(ledger, out);
      expect(report).to.deep.include({ segments: 1, written: 5, damaged: 0 });
      expect(report.rows).to.deep.equal({ rankings: 2, candidates: 4, feedback: 1, history: 0 });
      expect(readdirSync(join(out, 'feedback'))).to.deep.equal(['day=2026-01-02']);
      const candidates = await rowsOf(join(out, 'candidates/day=2026-01-01/pipeline=search'));
      expect(candidates).to.deep.equal([
        {
          instance: INSTANCE,
          sequence: 1n,
          request_id: 'r0',
          time: new Date(START),
          candidate_id: 'p1',
          on_page: true,
          'product.price': 2.5,
          'value:time': 1,
        },
        {
          instance: INSTANCE,
          sequence: 1n,
          request_id: 'r0',
          time: new Date(START),
          candidate_id: 'p2',
          on_page: false,
          'product.price': null,
          'value:time': 2,
        },
      ]);
      const [ranking] = await rowsOf(join(out, 'rankings'));
      expect(ranking).to.deep.include({
        entities: '["user=u1","query=tv"]',
        'query.query': 'tv',
        pipeline_version: 'v1',
      });
    });
  });

  it('reads a segment of very many days again rather than hold a file open for each', async () => {
    await withFiles({}, async (root) => {
      const [ledger, out] = [join(root, 'ledger'), join(root, 'out')];
      writeLedger(ledger, 150);
      const report = await compactLedger(ledger, out);
      expect(report).to.deep.include({ written: 301 });
      expect(report.rows).to.deep.include({ rankings: 150, candidates: 300, feedback: 1 });
      expect(await rowsOf(join(out, 'candidates'))).to.have.length(300);
    });
  });

  it('compacts a segment once, and again without a trace of a crash', async () => {
    await withFiles({}, async (root) => {
      const [ledger, out] = [join(root, 'ledger'), join(root, 'out')];
      writeLedger(ledger, 3);
      await compactLedger(ledger, out);
      expect(await compactLedger(ledger, out)).to.deep.include({ segments: 0, before: 1, written: 0 });
      // As after a crash before the state was written.
      rmSync(join(out, 'compacted.json'));
      writeFileSync(join(out, 'compacted.json.tmp'), '{');
      expect(await compactLedger(ledger, out)).to.deep.include({ segments: 1 });
      expect(await rowsOf(join(out, 'candidates'))).to.have.length(6);
    });
  });

  it('leaves segments that are still being written', async () => {
    await withFiles({}, async (root) => {
      const ledger = join(root, 'ledger');
      writeLedger(ledger, 1);
      const [segment = ''] = readdirSync(ledger, { recursive: true, encoding: 'utf8' }).filter((one) =>
        one.endsWith('.mlr'),
      );
      utimesSync(join(ledger, segment), new Date(), new Date());
      expect(await compactLedger(ledger, join(root, 'out'))).to.deep.include({ segments: 0, open: 1 });
    });
  });
});

describe('the statistics of a ledger', () => {
  it('count records by kind and day, statuses and failures', async () => {
    await withFiles({}, async (root) => {
      writeLedger(join(root, 'ledger'), 2, 'deadline_exceeded');
      const stats = await ledgerStats(join(root, 'ledger'), undefined);
      expect(stats.counts.ranking.get('search')).to.deep.equal(
        new Map([
          ['2026-01-01', 1],
          ['2026-01-02', 1],
        ]),
      );
      expect(stats.counts.feedback.get('click')).to.deep.equal(new Map([['2026-01-01', 1]]));
      expect(stats.failed.get('search')).to.deep.equal(new Map([['deadline_exceeded', 1]]));
      expect(stats.statuses.get('search')?.get('product.price')).to.deep.equal({
        present: 2,
        missing_entity: 2,
      });
      expect(
        stats.sequences.map(({ kind, first, last, missing }) => [kind, first, last, missing]),
      ).to.deep.equal([
        ['ranking', 1, 2, 0],
        ['feedback', 1, 1, 0],
      ]);
    });
  });

  it('find the numbers that are missing, and those that came twice', async () => {
    await withFiles({}, async (root) => {
      const folder = join(root, 'ledger');
      writeLedger(folder, 5);
      const [segment = ''] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((one) =>
        one.endsWith('.mlr'),
      );
      const path = join(folder, segment);
      const bytes = readFileSync(path);
      // The frames: the schema, five rankings, another schema, a click.
      const starts: number[] = [];
      for (let at = 0; at < bytes.length; at += 8 + bytes.readUInt32LE(at)) starts.push(at);
      const frame = (index: number): Buffer => bytes.subarray(starts[index], starts[index + 1]);
      writeFileSync(path, Buffer.concat([frame(0), frame(1), frame(4), frame(5), frame(5)]));
      const [ranking] = (await ledgerStats(folder, undefined)).sequences;
      expect(ranking).to.deep.include({ records: 4, first: 1, last: 5, missing: 2, repeated: 1 });
    });
  });
});
