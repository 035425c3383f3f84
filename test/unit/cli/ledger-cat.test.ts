import { expect } from 'chai';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunningLedger } from '../../../runtime/state/ledger/ledger.js';
import { segmentPaths } from '../../../runtime/ground/sdk/segments.js';
import { millrace } from '../../support/command-line.js';
import { addRecord, fileLedger } from '../../support/ledger-records.js';

describe('millrace ledger cat', () => {
  let folder = '';
  let ledger: RunningLedger;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ledger-'));
    ledger = await fileLedger(folder);
  });
  afterEach(async () => {
    await ledger.close(1000);
    await rm(folder, { recursive: true, force: true });
  });

  const rank = (id: string): void =>
    addRecord(
      ledger,
      'ranking',
      [
        ['request_id', 'field', 'record', 'text', id],
        ['run_id', 'field', 'record', 'text', undefined],
        ['time', 'field', 'record', 'time', Date.UTC(2026, 10, 22)],
        ['query.query', 'value', 'record', 'text', 'red shoe'],
        ['candidate_id', 'field', 'candidate', 'text', ['p1', 'p2']],
        ['score', 'field', 'candidate', 'float64', [1.5, undefined]],
        ['product.price', 'value', 'candidate', 'float64', [9.99, undefined]],
        ['product.tags', 'value', 'candidate', 'texts', [['a', 'b'], []]],
        ['step', 'field', 'change', 'int32', [2]],
      ],
      { pipeline: 'search' },
    );
  const click = (id: string): void =>
    addRecord(ledger, 'feedback', [
      ['request_id', 'field', 'record', 'text', id],
      ['event', 'field', 'record', 'text', 'click'],
    ]);
  const idsOf = (stdout: string): unknown[] =>
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { request_id: string }).request_id);

  it('prints a record a line, with its candidates as objects', async () => {
    rank('r1');
    click('r1');
    await ledger.flush();
    const { code, stdout, stderr } = await millrace(['ledger', 'cat', folder]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const [ranking, feedback] = stdout
      .split('\n')
      .map((line) => JSON.parse(line || 'null') as { written: string });
    expect(ranking).to.deep.equal({
      kind: 'ranking',
      instance: ledger.instance,
      sequence: 1,
      written: ranking?.written,
      meta: { pipeline: 'search' },
      request_id: 'r1',
      time: '2026-11-22T00:00:00.000Z',
      values: { 'query.query': 'red shoe' },
      candidates: [
        { candidate_id: 'p1', score: 1.5, values: { 'product.price': 9.99, 'product.tags': ['a', 'b'] } },
        { candidate_id: 'p2', values: { 'product.tags': [] } },
      ],
      changes: [{ step: 2 }],
    });
    expect(feedback)
      .to.include({ kind: 'feedback', sequence: 1, event: 'click' })
      .and.not.to.have.property('candidates');
  });

  it('selects by kind, request and time, from files and folders', async () => {
    rank('r1');
    rank('r2');
    click('r2');
    await ledger.flush();
    const [file = ''] = await segmentPaths(folder);
    const cat = async (...args: string[]): Promise<unknown[]> =>
      idsOf((await millrace(['ledger', 'cat', ...args])).stdout);
    expect(await cat(file, '--kind', 'ranking')).to.deep.equal(['r1', 'r2']);
    expect(await cat(folder, '--request', 'r2')).to.deep.equal(['r2', 'r2']);
    expect(await cat(folder, '--since', '1h')).to.have.length(3);
    expect(await cat(folder, '--since', '2100-01-01')).to.deep.equal([]);
    expect(await cat(file, file)).to.have.length(6);
  });

  it('says so if no record is found', async () => {
    rank('r1');
    await ledger.flush();
    const { code, stdout, stderr } = await millrace(['ledger', 'cat', folder, '--request', 'r9']);
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: 'note: no record was found\n',
    });
  });

  it('warns of a torn end and of damage, and prints the rest', async () => {
    rank('r1');
    rank('r2');
    await ledger.flush();
    const [file = ''] = await segmentPaths(folder);
    const bytes = await readFile(file);
    await appendFile(file, bytes.subarray(-100, -20));
    const torn = await millrace(['ledger', 'cat', folder]);
    expect(idsOf(torn.stdout)).to.deep.equal(['r1', 'r2']);
    expect(torn.code).to.equal(0);
    expect(torn.stderr).to.match(/^warning: /);
  });

  it('follows segments while they are written', async () => {
    rank('r1');
    await ledger.flush();
    const stop = new AbortController();
    const output = millrace(['ledger', 'cat', folder, '--follow'], { stop: stop.signal });
    await pause(50);
    rank('r2');
    await ledger.rotate();
    click('r3');
    await ledger.flush();
    await pause(700);
    stop.abort();
    expect(idsOf((await output).stdout)).to.deep.equal(['r1', 'r2', 'r3']);
  });

  it('reads the ledger of the project, and says where there is none', async () => {
    const { code, stderr } = await millrace(['ledger', 'cat'], {
      env: { MILLRACE_LEDGER_DIR: join(folder, 'none') },
    });
    expect(code).to.equal(1);
    expect(stderr)
      .to.contain(`there is no ledger at ${join(folder, 'none')}`)
      .and.to.contain('ledger.dir');
    rank('r1');
    await ledger.flush();
    expect(
      idsOf((await millrace(['ledger', 'cat'], { env: { MILLRACE_LEDGER_DIR: folder } })).stdout),
    ).to.deep.equal(['r1']);
    expect((await millrace(['ledger', 'cat', folder, '--since', 'yesterday'])).code).to.equal(2);
  });
});
