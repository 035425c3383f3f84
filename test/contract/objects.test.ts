import { expect } from 'chai';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Bucket } from '../../runtime/ground/core/bucket.js';
import {
  isObjectPath,
  localFolder,
  openStored,
  storedFiles,
} from '../../runtime/ground/core/stored-files.js';
import { Diagnostics } from '../../runtime/project/config/diagnostics/diagnostics.js';
import { SourceFile } from '../../runtime/project/config/yaml/source.js';
import { openInput } from '../../runtime/project/rows/open-input.js';
import { OptionFiles } from '../../runtime/request/compile/option-files.js';
import { followRecords } from '../../runtime/state/ledger/follow-records.js';
import { readReport } from '../../runtime/state/ledger/frame-splitter.js';
import { rewriteSegment } from '../../runtime/state/ledger/rewrite-segment.js';
import { millrace } from '../support/command-line.js';
import { foreignShop } from '../support/foreign-shop.js';
import { HOUR, MadeLedger, START } from '../support/made-ledger.js';
import { describeWith } from '../support/needs.js';
import { keysOf, setVariables, startObjectServer, type ObjectServer } from '../support/object-server.js';
import { serveFiles } from '../support/served-project.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

/** What reads paths, over a real server. */
describeWith('moto', 'a path of objects', function () {
  this.timeout(120_000);
  let server: ObjectServer;
  let bucket: Bucket;
  let folder = '';
  let restore = (): void => undefined;

  before(async () => {
    server = await startObjectServer();
    restore = setVariables(server.env);
    bucket = await server.bucket('objects');
    folder = await mkdtemp(join(tmpdir(), 'objects-'));
    // Three instances, one ledger.
    for (let instance = 0; instance < 3; instance++) {
      const made = new MadeLedger();
      for (let n = 0; n < 20; n++) {
        const time = START + n * HOUR;
        const request = `r${instance}-${n}`;
        const candidates = ['a', 'b'].map((id) => ({ id, values: { 'product.price': n } }));
        made.ranking({ request, time, candidates }, { candidate: { 'product.price': 'float64' } });
        made.feedback({ event: 'click', subject: 'a', time: time + 1000, request });
      }
      const path = made.write(join(folder, 'ledger', `i${instance}`));
      const content = await readFile(join(path, 'made-000001.mlr'));
      await bucket.write(`ledger/2026-11-01/i${instance}-000001.mlr`, content);
    }
  });
  after(async () => {
    restore();
    await rm(folder, { recursive: true, force: true });
    await server.close();
  });

  it('has the logs of another system for `ledger import`, with objects and prefixes', async () => {
    const root = await mkdtemp(join(folder, 'import-'));
    for (const [name, text] of Object.entries(foreignShop())) {
      const isPacked = name.startsWith('clicks');
      await bucket.write(
        `shop/logs/${isPacked ? `${name}.gz` : name}`,
        isPacked ? gzipSync(text) : Buffer.from(text),
      );
    }
    await bucket.write('shop/logs/.hidden.csv', Buffer.from('a\n1\n'));
    await bucket.write('shop/logs/readme.txt', Buffer.from('no records'));
    const importOf = async (name: string, ...words: string[]): Promise<Record<string, unknown>> => {
      const made = ['--new-project', join(root, name), '--yes', '--json'];
      const { code, stdout, stderr } = await millrace(['ledger', 'import', ...words, ...made]);
      expect(code, stderr).to.equal(0);
      const { rankings, feedback, rows, files, entities } = JSON.parse(stdout) as Record<string, unknown>;
      return { rankings, feedback, rows, files, entities };
    };
    const logs = 's3://objects/shop/logs';
    const below = await importOf('below', logs);
    expect(below).to.deep.include({ rankings: 600, rows: 4925, files: 3 });
    const [items, ...others] = ['items.csv', 'impressions.csv', 'clicks.csv.gz'].map(
      (one) => `${logs}/${one}`,
    );
    expect(await importOf('each', ...others, '--items', items ?? '')).to.deep.equal(below);

    const refused = async (...words: string[]): Promise<string> => {
      const { code, stderr } = await millrace(['ledger', 'import', ...words, '--yes']);
      expect(code).to.equal(2);
      return stderr;
    };
    const none = await refused('s3://objects/nothing', '--new-project', join(root, 'none'));
    expect(none).to.equal('error: there is nothing at s3://objects/nothing\n');
    const project = ['--project', join(root, 'below'), '--out', 's3://objects/imported'];
    expect(await refused(logs, '--map', join(root, 'below', 'import.yaml'), ...project))
      .to.contain('an import is written to a folder')
      .and.to.contain('--out');
  });

  it('is a ledger of all instances: cat, stats and data sets are as those of files', async () => {
    const text = async (...argv: string[]): Promise<string> => {
      const { code, stdout, stderr } = await millrace(argv);
      expect(code, stderr).to.equal(0);
      return stdout;
    };
    const places = [join(folder, 'ledger'), 's3://objects/ledger'];
    const [files, objects] = await Promise.all(places.map((place) => text('ledger', 'cat', place)));
    expect(objects?.split('\n')).to.have.length(121);
    expect(objects).to.equal(files);
    for (const [at, place] of places.entries())
      await text(
        'dataset',
        'build',
        'search',
        '--ledger',
        place,
        '--window',
        '1h',
        '--format',
        'csv',
        '--out',
        join(folder, `set${at}`),
      );
    for (const name of ['train.csv', 'holdout.csv'])
      expect(await readFile(join(folder, 'set1', name), 'utf8')).to.equal(
        await readFile(join(folder, 'set0', name), 'utf8'),
      );
    expect(await text('ledger', 'stats', '--ledger', 's3://objects/ledger')).to.contain('60');
  });

  it('is listed page by page', async () => {
    const many = await server.bucket('many');
    for (let from = 0; from < 1010; from += 101)
      await Promise.all(
        Array.from({ length: 101 }, (_, n) => many.write(`x/${from + n} +&é.mlr`, Buffer.from('x'))),
      );
    const files = await storedFiles('s3://many/x', '.mlr');
    expect(new Set(files.map(({ path }) => path)).size).to.equal(1010);
    expect(files[0]?.path).to.equal('s3://many/x/0 +&é.mlr');
  });

  it('is read as rows, in whole and in parts', async () => {
    const rowsOf = async (path: string): Promise<unknown[]> => {
      const input = await openInput(path, {
        stdin: Readable.from([]),
        columnTypes: () => Promise.resolve(new Map()),
      });
      const rows: unknown[] = [];
      for await (const chunk of input.chunks()) rows.push(...chunk.rows.map(({ value }) => value));
      await input.close();
      return rows;
    };
    await bucket.write('rows.csv', Buffer.from('id,price\np1,2\np2,3\n'));
    expect(await rowsOf('s3://objects/rows.csv')).to.deep.equal([
      { id: 'p1', price: '2' },
      { id: 'p2', price: '3' },
    ]);
    const missing = await openInput('s3://objects/none.csv', {
      stdin: Readable.from([]),
      columnTypes: () => Promise.resolve(new Map()),
    }).catch(String);
    expect(missing).to.include('cannot open s3://objects/none.csv');
    await bucket.write('parts', Buffer.from('0123456789'));
    const file = await openStored('s3://objects/parts');
    const into = Buffer.alloc(4);
    expect(await file.read(into, 0, 4, 3)).to.deep.equal({ bytesRead: 4 });
    expect(String(into)).to.equal('3456');
    expect(await file.read(into, 0, 4, 8)).to.deep.equal({ bytesRead: 2 });
    expect(await file.read(into, 0, 4, 10)).to.deep.equal({ bytesRead: 0 });
  });

  it('is a file of options, whose version is that of its content', async () => {
    await bucket.write('models/m.txt', Buffer.from('model'));
    const read = async (path: string): Promise<string> => {
      const diagnostics = new Diagnostics();
      const at = { file: new SourceFile('p.yaml', ''), start: 0, end: 0 };
      const file = await new OptionFiles(folder).read({ value: path, at }, diagnostics);
      return file === undefined
        ? (diagnostics.all[0]?.message ?? '')
        : `${String(file.content)} ${file.version}`;
    };
    expect(await read('s3://objects/models/m.txt')).to.equal('model 9372c470eead');
    expect(await read('s3://objects/models/x.txt')).to.include('there is no s3://objects/models/x.txt');
    expect(await read('s3://objects/../other/m.txt')).to.include('is not a path of objects');
    // A release holds it as a file.
    const release = await mkdtemp(join(folder, 'release-'));
    const kept = join(release, 's3:/objects/models');
    await mkdir(kept, { recursive: true });
    await writeFile(join(kept, 'm.txt'), 'kept');
    const files = new OptionFiles(release);
    expect(String((await files.find('s3://objects/models/m.txt'))?.content)).to.equal('kept');
  });

  it('is copied for a program that reads files', async () => {
    await bucket.write('set/train.csv', Buffer.from('a\n1\n'));
    const copy = await localFolder('s3://objects/set', join(folder, 'copy'));
    expect(await readdir(copy)).to.deep.equal(['train.csv']);
    expect(await readFile(join(copy, 'train.csv'), 'utf8')).to.equal('a\n1\n');
  });

  it('loses the records of who is forgotten', async () => {
    const made = new MadeLedger();
    for (const user of ['u1', 'u2']) made.feedback({ event: 'click', subject: 'a', time: START, user });
    const content = await readFile(join(made.write(join(folder, 'private')), 'made-000001.mlr'));
    await bucket.write('private/d/i-000001.mlr', content);
    const path = 's3://objects/private/d/i-000001.mlr';
    const isOf =
      (user: string) => (record: { value(name: string): { at(row: number): unknown } | undefined }) =>
        record.value('user')?.at(0) === user;
    expect(await rewriteSegment(path, isOf('u1'))).to.include({ removed: 1 });
    expect((await millrace(['ledger', 'cat', 's3://objects/private'])).stdout)
      .to.match(/"u2"/)
      .and.not.match(/"u1"/);
    await rewriteSegment(path, isOf('u2'));
    expect(await keysOf(bucket, 'private/')).to.deep.equal([]);
  });

  it('is followed', async () => {
    const stop = new AbortController();
    let count = 0;
    for await (const _ of followRecords(['s3://objects/ledger'], readReport(), stop.signal)) {
      expect(_.kind).to.be.a('string');
      if (++count === 120) stop.abort();
    }
    expect(count).to.equal(120);
  });

  it('is read on after a broken connection', async () => {
    const content = Buffer.alloc(2_000_000, 'abcdefg');
    await bucket.write('large', content);
    const proxy = await startTcpProxy(server.port);
    const through = new Bucket('objects', {
      env: server.env,
      endpoint: `http://127.0.0.1:${proxy.port}`,
    });
    const pieces: Buffer[] = [];
    let broken = 0;
    for await (const piece of through.read('large')) {
      pieces.push(piece);
      proxy.weather = pieces.length === 3 && broken++ === 0 ? 'reset' : 'clear';
    }
    expect(Buffer.concat(pieces).equals(content)).to.equal(true);
    await proxy.close();
  });

  it('holds the releases that are too large for the store', async () => {
    const pipeline = (value: string): string =>
      `pipeline: ranking\nrank: item\nrequest: { candidates: { price: float } }\ncomponents:\n  - use: score\n    with: { value: ${value} }\n`;
    const served = await serveFiles(
      { 'schemas/entities/item.yaml': 'entity: item\n', 'pipelines/ranking.yaml': pipeline('item.price') },
      undefined,
      { MILLRACE_RELEASES: 's3://objects/releases', MILLRACE_RELEASE_BYTES: '100' },
    );
    const score = async (): Promise<unknown> =>
      (await served.post('/api/v1/ranking', { candidates: [{ item_id: 'a', price: 2 }] })).json
        .ranked_candidates;
    try {
      const kept = (count: number): Promise<unknown> =>
        until('the objects', async () => (await keysOf(bucket, 'releases/')).length === count);
      await kept(1);
      await served.edit('pipelines/ranking.yaml', pipeline('item.price * 5'));
      expect((await served.app.reload()).outcome).to.equal('succeeded');
      await kept(2);
      expect(await score()).to.deep.equal([{ candidate_id: 'a', ranked_score: 10 }]);
      expect((await served.post('/api/v1/releases/rollback', { version: null })).status).to.equal(200);
      expect(await score()).to.deep.equal([{ candidate_id: 'a', ranked_score: 2 }]);
    } finally {
      await served.close();
    }
  });

  it('says what is wrong', async () => {
    const said = async (path: string, env: Readonly<Record<string, string>> = {}): Promise<string> => {
      const undo = setVariables(env);
      const { code, stderr } = await millrace(['ledger', 'cat', path]);
      undo();
      expect(code).to.equal(1);
      return stderr;
    };
    expect(await said('s3://objects/none')).to.match(/there is no ledger at s3:\/\/objects\/none/);
    expect(await said('s3://not-there/x')).to.match(/error: s3:\/\/not-there\/: NoSuchBucket/);
    expect(await said('s3://objects/x', { AWS_ACCESS_KEY_ID: '' })).to.match(
      /error: object storage needs credentials\nhelp: set AWS_ACCESS_KEY_ID and/,
    );
    expect(isObjectPath('s3.csv')).to.equal(false);
  });
});
