import { expect } from 'chai';
import { appendFile, link, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { EntityType } from '../../../../runtime/project/config/model/entities.js';
import { loadSchemas } from '../../../../runtime/project/config/project/load-project.js';
import { IdHasher } from '../../../../runtime/ground/core/id-hasher.js';
import type { RunningLedger } from '../../../../runtime/state/ledger/ledger.js';
import { readReport } from '../../../../runtime/state/ledger/frame-splitter.js';
import { readRecords } from '../../../../runtime/state/ledger/record-reader.js';
import { forgetInLedger } from '../../../../runtime/state/privacy/ledger-data.js';
import type { Removed } from '../../../../runtime/state/privacy/personal-data.js';
import { segmentPaths } from '../../../../runtime/ground/sdk/segments.js';
import { addRecord, fileLedger, type Written } from '../../../support/ledger-records.js';
import { writeProject } from '../../../support/project.js';

const SALT = 'sixteen characters';
const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { maker: ref(user), name: string }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { city: string }\n',
};

describe('forgetting in the ledger', () => {
  let folder = '';
  let types: ReadonlyMap<string, EntityType>;
  let ledger: RunningLedger;
  before(async () => {
    const root = await writeProject(FILES);
    types = (await loadSchemas(root)).config?.entities ?? new Map<string, EntityType>();
    await rm(root, { recursive: true });
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ledger-'));
    ledger = await fileLedger(folder);
  });
  afterEach(async () => {
    await ledger.close(1000);
    await rm(folder, { recursive: true, force: true });
  });

  const forget = (type: string, ...ids: string[]): Promise<Removed> =>
    forgetInLedger({ type, ids: new Set(ids) }, { types, ledger: { folder, idSalt: SALT } });
  const ranking = (id: string, more: readonly Written[] = [], meta = {}): void =>
    addRecord(ledger, 'ranking', [['request_id', 'field', 'record', 'text', id], ...more], {
      candidate_type: 'product',
      log: { unit: 'user' },
      ...meta,
    });
  const left = async (): Promise<unknown[]> => {
    const report = readReport();
    const ids: unknown[] = [];
    for await (const record of readRecords(folder, report)) ids.push(record.field('request_id')?.at(0));
    expect(report).to.include({ torn: 0, damaged: 0, skipped: 0 });
    return ids.sort();
  };

  it('removes every record that names the entity, wherever it does, and no other', async () => {
    const hash = new IdHasher(SALT, new Set(['user'])).shown('user', 'u1');
    ranking('as entity', [['entities', 'field', 'record', 'texts', ['user=u1', 'query=shoes']]]);
    ranking('as unit', [['unit', 'field', 'record', 'text', 'u1']]);
    ranking('hashed', [['entities', 'field', 'record', 'texts', [`user=${hash}`]]]);
    ranking('as value', [['product.maker', 'value', 'candidate', 'text', ['u2', 'u1']]]);
    ranking('as candidate', [['candidate_id', 'field', 'candidate', 'text', ['u9', 'u1']]], {
      candidate_type: 'user',
    });
    ranking('other user', [['entities', 'field', 'record', 'texts', ['user=u10', 'query=u1']]]);
    ranking('product of that id', [['candidate_id', 'field', 'candidate', 'text', ['u1']]]);
    ranking('text of that id', [['product.name', 'value', 'candidate', 'text', ['u1']]]);
    const feedback = (id: string, type: string, subject: string, user: string): void =>
      addRecord(ledger, 'feedback', [
        ['request_id', 'field', 'record', 'text', id],
        ['subject_type', 'field', 'record', 'text', type],
        ['subject_id', 'field', 'record', 'text', subject],
        ['user', 'value', 'record', 'text', user],
      ]);
    feedback('subject', 'user', 'u1', 'u2');
    feedback('owner', 'product', 'p1', 'u1');
    feedback('other feedback', 'product', 'u1', 'u2');
    const history = (id: string, keys: string[]): void =>
      addRecord(
        ledger,
        'history',
        [
          ['request_id', 'field', 'record', 'text', id],
          ['keys', 'field', 'record', 'texts', ['u1', 'b1']],
        ],
        { keys },
      );
    history('row', ['user', 'brand']);
    history('other row', ['product', 'brand']);
    expect(await forget('user', 'u1', 'u7')).to.deep.equal({
      ledger_records: 8,
      unreadable_ledger_records: 0,
    });
    expect(await left()).to.deep.equal([
      'other feedback',
      'other row',
      'other user',
      'product of that id',
      'text of that id',
    ]);
    expect(await forget('product', 'u1')).to.include({ ledger_records: 3 });
    expect(await left()).to.deep.equal(['other user', 'text of that id']);
  });

  it('closes the segment that is being written first, and later records go to another', async () => {
    ranking('before', [['unit', 'field', 'record', 'text', 'u1']]);
    ranking('stays', [['unit', 'field', 'record', 'text', 'u2']]);
    const done = forget('user', 'u1'); // the records are still in the queue
    await done;
    ranking('after', [['unit', 'field', 'record', 'text', 'u2']]);
    await ledger.flush();
    expect(await left()).to.deep.equal(['after', 'stays']);
    expect(await segmentPaths(folder)).to.have.length(2);
    expect(
      (await readdir(join(folder, new Date().toISOString().slice(0, 10)))).filter(
        (name) => !name.endsWith('.mlr'),
      ),
    ).to.deep.equal([]);
  });

  it('replaces what a killed call left of a segment, which is read-only as the segment is', async () => {
    ranking('a', [['unit', 'field', 'record', 'text', 'u1']]);
    ranking('b', [['unit', 'field', 'record', 'text', 'u2']]);
    await ledger.rotate();
    const [path = ''] = await segmentPaths(folder);
    await writeFile(`${path}.rewrite`, 'a part', { mode: 0o400 });
    // Tests may run as root, which may write to read-only files. Another name of the file shows whether it is written to.
    await link(`${path}.rewrite`, `${path}.same`);
    await forget('user', 'u1');
    expect(await left()).to.deep.equal(['b']);
    expect(await readFile(`${path}.same`, 'utf8')).to.equal('a part');
    expect((await readdir(dirname(path))).filter((name) => name.endsWith('.rewrite'))).to.deep.equal([]);
  });

  it('keeps the age of a segment, leaves others untouched, and deletes one without records', async () => {
    ranking('a', [['unit', 'field', 'record', 'text', 'u1']]);
    ranking('b', [['unit', 'field', 'record', 'text', 'u2']]);
    await ledger.rotate();
    ranking('c', [['unit', 'field', 'record', 'text', 'u1']]);
    await ledger.rotate();
    ranking('d', [['unit', 'field', 'record', 'text', 'u3']]);
    await ledger.rotate();
    const [first = '', , third = ''] = await segmentPaths(folder);
    await utimes(first, 1_700_000_000, 1_700_000_000);
    const { ino } = await stat(third);
    await forget('user', 'u1');
    expect(await left()).to.deep.equal(['b', 'd']);
    expect(await segmentPaths(folder)).to.deep.equal([first, third]);
    expect((await stat(first)).mtimeMs).to.equal(1_700_000_000_000);
    expect((await stat(third)).ino).to.equal(ino);
  });

  it('removes what is damaged, because nobody can tell whom it names', async () => {
    ranking('a', [['unit', 'field', 'record', 'text', 'u2']]);
    await ledger.rotate();
    const [path = ''] = await segmentPaths(folder);
    await appendFile(path, Buffer.alloc(100, 0x55));
    await forget('user', 'u1');
    expect(await left()).to.deep.equal(['a']);
  });

  it('does nothing without a folder', async () => {
    await ledger.close(1000);
    await rm(folder, { recursive: true });
    expect(await forget('user', 'u1')).to.deep.equal({ ledger_records: 0, unreadable_ledger_records: 0 });
  });
});
