import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Status } from '../../../runtime/api/status.js';
import { FileSink } from '../../../runtime/ledger/file-sink.js';
import { RunningLedger } from '../../../runtime/ledger/ledger.js';
import { readRecords } from '../../../runtime/ledger/record-reader.js';
import { recordSchema } from '../../../runtime/ledger/record-schema.js';

const schema = recordSchema(
  'ranking',
  [
    { name: 'request_id', is: 'field', rows: 'record', type: 'text', nullable: false },
    { name: 'run_id', is: 'field', rows: 'record', type: 'text', nullable: true },
    { name: 'candidate_id', is: 'field', rows: 'candidate', type: 'text', nullable: false },
    { name: 'product.price', is: 'value', rows: 'candidate', type: 'float64', nullable: true },
    { name: 'step', is: 'field', rows: 'change', type: 'int32', nullable: false },
  ],
  { pipeline: 'search' },
);

describe('the ledger', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ledger-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('writes records to a file and reads them back', async () => {
    const sink = new FileSink({
      name: 'file',
      takes: ['ranking'],
      queueBytes: 2 ** 24,
      folder,
      keepMs: 1e9,
      bytes: 1e9,
    });
    const ledger = new RunningLedger([sink]);
    expect(ledger.takes('ranking')).to.equal(true);
    expect(ledger.takes('feedback')).to.equal(false);
    for (const id of ['r1', 'r2']) {
      ledger.add(schema, { candidate: 3, change: 1 }, (w) => {
        w.text(id);
        w.text(undefined);
        w.text(['a', 'é', 'c'], undefined, [2, 1, 0]);
        w.float64(new Float64Array([1.1, NaN, 3]), new Uint8Array([0, Status.expired, 0]));
        w.int32([7]);
      });
    }
    await ledger.close(1000);
    const records = [];
    for await (const record of readRecords(folder)) records.push(record);
    expect(records.map((record) => record.field('request_id')?.at(0))).to.deep.equal(['r1', 'r2']);
    expect(records.map(({ sequence, instance }) => [sequence, instance])).to.deep.equal([
      [1, ledger.instance],
      [2, ledger.instance],
    ]);
    const [first] = records;
    expect(first?.schema).to.deep.equal(schema);
    expect(first?.field('run_id')?.at(0)).to.equal(undefined);
    expect(first?.field('candidate_id')?.at(1)).to.equal('é');
    expect(first?.field('candidate_id')?.at(0)).to.equal('c');
    const price = first?.value('product.price');
    expect([0, 1, 2].map((row) => [price?.at(row), price?.statusAt(row)])).to.deep.equal([
      [1.1, 0],
      [undefined, Status.expired],
      [3, 0],
    ]);
    expect(first?.field('step')?.at(0)).to.equal(7);
  });
});
