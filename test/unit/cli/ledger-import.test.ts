import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readReport } from '../../../runtime/state/ledger/frame-splitter.js';
import type { DecodedRecord } from '../../../runtime/state/ledger/record-decoder.js';
import { readRecords } from '../../../runtime/state/ledger/record-reader.js';
import { millrace, type CommandResult } from '../../support/command-line.js';
import { withFiles } from '../../support/temporary-files.js';

const PROJECT = {
  'shop/millrace.yaml': 'project: shop\nstore: embedded\n',
  'shop/schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes:\n  price: float\n  title: string\n',
  'shop/pipelines/search.yaml': `pipeline: search
rank: product
request:
  candidates: { upstream: float }
  query: optional(query)
  user: optional(user)
  device: optional(string)
limits: { candidates: 3 }
define:
  cheap: 1 / product.price
  age: now() - time("2026-01-01")
components:
  - use: linear
    as: value
    with: { weights: { cheap: 1, product.upstream: 1 }, missing: 0 }
  - use: score
    with: { value: "value:score" }
log: { features: [cheap, product.upstream, request.device, age] }
`,
};

const SHOWN = `request_id,ts,user_id,product_id,rank,clicked,upstream,device
r1,2026-01-31T09:30:00Z,u1,p2,2,1,0.5,phone
r1,2026-01-31T09:30:00Z,u1,p1,1,0,0.9,phone
r2,2026-01-31T10:00:00Z,u2,p1,1,0,,desktop
r2,2026-01-31T10:00:00Z,u2,,2,0,,desktop
r2,soon,u2,p2,3,0,,desktop
`;
const ITEMS = 'product_id,price,title\np1,4,One\np2,8,Two\n';
const MAP = `import: old_shop
sources:
  - files: [items.csv]
    into: entities
    map: { product: product_id }
  - files: [shown.csv]
    into: rankings
    map: { request: request_id, time: ts, user: user_id, product: product_id, position: rank }
    feedback: { click: clicked }
    send: { device: device }
    carry: { upstream: upstream }
`;

async function recordsOf(root: string): Promise<DecodedRecord[]> {
  const records: DecodedRecord[] = [];
  const report = readReport();
  for await (const record of readRecords(join(root, 'shop/.millrace/ledger'), report)) records.push(record);
  expect(report).to.deep.include({ torn: 0, damaged: 0, skipped: 0 });
  return records;
}

async function importInto(root: string, ...more: readonly string[]): Promise<CommandResult> {
  return await millrace([
    'ledger',
    'import',
    join(root, 'logs'),
    ...['--project', join(root, 'shop'), '--rejected', join(root, 'rejected.jsonl')],
    ...more,
  ]);
}

const cells = (record: DecodedRecord | undefined, name: string): unknown[] => {
  const column = record?.field(name) ?? record?.value(name);
  return Array.from({ length: column?.length ?? 0 }, (_, row) => column?.at(row));
};

describe('ledger import', function () {
  this.timeout(30_000);
  const files = { ...PROJECT, 'logs/shown.csv': SHOWN, 'logs/items.csv': ITEMS, 'map.yaml': MAP };

  it('writes rankings in the order shown, feedback, and the values that the pipeline logs', async () => {
    await withFiles(files, async (root) => {
      const { code, stdout, stderr } = await importInto(root, '--map', join(root, 'map.yaml'), '--json');
      expect(code, stderr).to.equal(0);
      expect(JSON.parse(stdout)).to.deep.include({
        rankings: 2,
        candidates: 3,
        entities: { product: 2 },
        feedback: { click: 1 },
        rejected: { no_id: 1, bad_time: 1 },
        today: ['cheap'],
      });
      const records = await recordsOf(root);
      expect(records.map(({ kind }) => kind)).to.deep.equal(['ranking', 'feedback', 'ranking']);
      const [first, click] = records;
      expect(first?.schema.meta).to.deep.include({
        pipeline: 'search',
        candidate_type: 'product',
        imported: true,
      });
      expect(cells(first, 'request_id')).to.deep.equal(['r1']);
      expect(cells(first, 'time')).to.deep.equal([Date.UTC(2026, 0, 31, 9, 30)]);
      expect(cells(first, 'unit')).to.deep.equal(['u1']);
      expect(cells(first, 'candidate_id')).to.deep.equal(['p1', 'p2']);
      expect(cells(first, 'place')).to.deep.equal([1, 2]);
      expect(cells(first, 'cheap')).to.deep.equal([1 / 4, 1 / 8]);
      expect(cells(first, 'product.upstream')).to.deep.equal([0.9, 0.5]);
      expect(cells(first, 'request.device')).to.deep.equal(['phone']);
      expect(cells(first, 'age')).to.deep.equal([Date.UTC(2026, 0, 31, 9, 30) - Date.UTC(2026, 0, 1)]);
      expect(cells(click, 'subject_id')).to.deep.equal(['p2']);
      expect(cells(click, 'request_id')).to.deep.equal(['r1']);
      expect(cells(click, 'user')).to.deep.equal(['u1']);
      const rejected = (await readFile(join(root, 'rejected.jsonl'), 'utf8')).trim().split('\n');
      expect(rejected.map((line) => JSON.parse(line) as object)).to.deep.include({
        file: 'shown.csv',
        line: 5,
        reason: 'no_id',
        detail: 'product_id is missing',
        row: {
          request_id: 'r2',
          ts: '2026-01-31T10:00:00Z',
          user_id: 'u2',
          rank: '2',
          clicked: '0',
          device: 'desktop',
        },
      });
    });
  });

  it('imports before the model of a step is trained, with the values that the model will read', async () => {
    const untrained = PROJECT['shop/pipelines/search.yaml'].replace(
      'components:\n',
      'components:\n  - { use: lightgbm, as: ltr, with: { model: models/ltr.txt, inputs: [cheap, product.upstream] } }\n',
    );
    const project = {
      ...files,
      'shop/pipelines/search.yaml': untrained.replace('features: [cheap,', 'features: [models, cheap,'),
    };
    await withFiles(project, async (root) => {
      const imported = await importInto(root, '--map', join(root, 'map.yaml'));
      expect(imported.code, imported.stderr).to.equal(0);
      const [r1] = (await recordsOf(root)).filter(({ kind }) => kind === 'ranking');
      expect([cells(r1, 'cheap'), cells(r1, 'product.upstream')]).to.deep.equal([
        [0.25, 0.125],
        [0.9, 0.5],
      ]);
      const loaded = await millrace([
        ...[
          'feedback',
          'load',
          join(root, 'logs'),
          '--map',
          join(root, 'map.yaml'),
          '--project',
          join(root, 'shop'),
        ],
        ...['--rejected', join(root, 'rejected.jsonl')],
      ]);
      expect(loaded.code, loaded.stderr).to.equal(0);
      expect(loaded.stdout).to.contain('1 click');
    });
  });

  it('counts one row, one file and one segment as one', async () => {
    const logs = { ...PROJECT, 'logs/shown.csv': SHOWN.split('\n').slice(0, 2).join('\n') };
    await withFiles(logs, async (root) => {
      const before = process.cwd();
      // The guessed mapping is written to the working directory.
      process.chdir(root);
      try {
        expect((await importInto(root, '--yes')).stdout).to.contain('read      1 row of 1 file in ');
      } finally {
        process.chdir(before);
      }
      const compact = ['ledger', 'compact', '--project', join(root, 'shop'), '--out', join(root, 'parquet')];
      expect((await millrace(compact)).stdout).to.match(/^1 segment → \d Parquet files? in /);
      expect((await millrace(compact)).stdout).to.contain('1 segment was compacted before');
    });
  });

  it('keeps the probabilities with which candidates were drawn', async () => {
    const drawn = SHOWN.replace(/desktop/g, '1.5')
      .replace('u1,p1,1,0,0.9,phone', 'u1,p1,1,0,0.9,')
      .replace('phone', '0.0125');
    const map = MAP.replace('position: rank', 'position: rank, propensity: device');
    await withFiles({ ...files, 'logs/shown.csv': drawn, 'map.yaml': map }, async (root) => {
      const { code, stdout, stderr } = await importInto(root, '--map', join(root, 'map.yaml'), '--json');
      expect(code, stderr).to.equal(0);
      expect(JSON.parse(stdout)).to.deep.include({
        rankings: 1,
        rejected: { bad_propensity: 1, no_id: 1, bad_time: 1 },
      });
      const [ranking] = await recordsOf(root);
      expect(cells(ranking, 'candidate_id')).to.deep.equal(['p1', 'p2']);
      for (const name of ['propensity', 'marginal'])
        expect(cells(ranking, name)).to.deep.equal([undefined, 0.0125]);
      expect(cells(ranking, 'product.upstream')).to.deep.equal([0.9, 0.5]);
    });
  });

  it('names the values that it knows only as of today, and data sets leave them out', async () => {
    await withFiles(files, async (root) => {
      const { stdout } = await importInto(root, '--map', join(root, 'map.yaml'));
      expect(stdout.replaceAll(/\s+/g, ' ')).to.contain('1 value of today: cheap.');
      const build = async (...more: readonly string[]): Promise<readonly string[]> => {
        const project = ['--project', join(root, 'shop')];
        const {
          code,
          stdout: json,
          stderr,
        } = await millrace([
          ...['dataset', 'build', '--out', join(root, 'data'), '--split', 'hash:request:50%', '--json'],
          ...[...project, ...more],
        ]);
        expect(code, stderr).to.equal(0);
        const left = /left out, because.*: ([^;]*); keep them with (--today \S+)/.exec(stderr);
        if (more.length === 0) expect(left?.slice(1)).to.deep.equal(['cheap', '--today product.price']);
        return (JSON.parse(json) as { features: { name: string }[] }).features.map(({ name }) => name);
      };
      const known = ['age', 'product.upstream', 'request.device'];
      expect(await build()).to.have.members(known);
      for (const today of ['all', 'product', 'product.price'])
        expect(await build('--today', today)).to.have.members(['cheap', ...known]);
      expect(await build('--today', 'product.brand')).to.have.members(known);
    });
  });

  it('refuses to import the same files twice, and replaces them when asked', async () => {
    await withFiles(files, async (root) => {
      const map = ['--map', join(root, 'map.yaml')];
      expect((await importInto(root, ...map)).code).to.equal(0);
      const again = await importInto(root, ...map);
      expect(again.code).to.equal(1);
      expect(again.stderr).to.contain('were imported into').and.to.contain('--replace');
      expect((await importInto(root, ...map, '--replace')).code).to.equal(0);
      expect(await recordsOf(root)).to.have.length(3);
    });
  });

  it('removes what an import that was killed left', async () => {
    await withFiles(files, async (root) => {
      const map = ['--map', join(root, 'map.yaml')];
      expect((await importInto(root, ...map)).code).to.equal(0);
      const ledger = join(root, 'shop/.millrace/ledger');
      const [segment = ''] = (await readdir(ledger, { recursive: true })).filter((name) =>
        name.endsWith('.mlr'),
      );
      const instance = basename(segment).slice(0, 36);
      await mkdir(join(ledger, `.import-${instance}`));
      await writeFile(join(ledger, `.import-${instance}`, '0'), 'half a row');
      await rename(join(ledger, segment), `${join(ledger, segment)}.importing`);
      expect((await importInto(root, ...map)).code).to.equal(0);
      expect(await recordsOf(root)).to.have.length(3);
      const left = await readdir(ledger, { recursive: true });
      expect(left.filter((name) => /import/.test(name))).to.deep.equal([]);
    });
  });

  it('imports a folder although some of its files cannot be read', async () => {
    await withFiles(files, async (root) => {
      await writeFile(join(root, 'logs/config.json'), '{"region": "eu"}');
      await writeFile(join(root, 'logs/old.csv.gz'), 'this is not gzip');
      const { code, stdout, stderr } = await millrace([
        ...['ledger', 'import', join(root, 'logs'), '--yes', '--new-project', join(root, 'new')],
        ...['--rejected', join(root, 'rejected.jsonl')],
      ]);
      expect(code, stderr).to.equal(0);
      const text = stdout.replaceAll(/\s+/g, ' ');
      expect(text).to.contain('# The file is not read. config.json: expected a JSON list of objects');
      expect(text).to.contain(
        '# The file is not read. old.csv.gz: the file is not gzip, or it is incomplete',
      );
      expect(text).to.contain('feedback 1 click');
    });
  });

  it('proposes a mapping, and imports by it only with --yes or --map', async () => {
    await withFiles(files, async (root) => {
      const before = process.cwd();
      process.chdir(root);
      try {
        const proposed = await importInto(root);
        expect(proposed.code, proposed.stderr).to.equal(0);
        expect(proposed.stdout).to.contain('nothing is imported yet').and.to.contain('click = clicked');
        expect(existsSync(join(root, 'shop/.millrace/ledger'))).to.equal(false);
        const imported = await importInto(root, '--map', 'import.yaml');
        expect(imported.code, imported.stderr).to.equal(0);
      } finally {
        process.chdir(before);
      }
      const [first] = await recordsOf(root);
      expect(cells(first, 'product.upstream')).to.deep.equal([0.9, 0.5]);
    });
  });

  it('rejects lists that the pipeline does not take, entities that do not fit, and rows that are not JSON', async () => {
    const logs = {
      'logs/lists.jsonl.gz': gzipSync(
        [
          '{"id":"r1","ts":1769851800,"items":["a","b","c","d"]}',
          '{"id":"r2","ts":1769851800,"items":["a"],"d":{"x":1}}',
          '{"id":"r3","ts":1769851800,"items":["a"],"d":"phone"}',
          'not json',
        ].join('\n'),
      ),
      'logs/things.jsonl': '{"product_id":"a","price":"dear"}\n{"product_id":"b","price":2}\n',
    };
    const map = `import: lists
sources:
  - files: ["lists*"]
    into: rankings
    map: { request: id, time: ts, items: items, product: . }
    send: { device: d }
  - files: [things.jsonl]
    into: entities
    map: { product: product_id }
`;
    await withFiles({ ...PROJECT, ...logs, 'map.yaml': map }, async (root) => {
      const { stdout, stderr } = await importInto(root, '--map', join(root, 'map.yaml'), '--json');
      expect(stderr).to.equal('');
      expect(JSON.parse(stdout)).to.deep.include({
        rankings: 1,
        entities: { product: 1 },
        rejected: { unreadable: 1, bad_entity: 1, too_many_candidates: 1, bad_request: 1 },
        unknownCandidates: 1,
      });
    });
  });

  it('joins clicks without a request id with the last list that held the item', async () => {
    const events = [
      {
        event: 'ranking',
        id: 'r1',
        timestamp: '1769851800000',
        user: 'u1',
        items: [{ id: 'p1' }, { id: 'p2' }],
      },
      { event: 'ranking', id: 'r2', timestamp: '1769851860000', user: 'u1', items: [{ id: 'p2' }] },
      { event: 'interaction', id: 'a', timestamp: '1769851870000', user: 'u1', type: 'click', item: 'p1' },
      { event: 'interaction', id: 'b', timestamp: '1769851880000', user: 'u1', type: 'click', item: 'p2' },
      { event: 'interaction', id: 'c', timestamp: '1769951880000', user: 'u1', type: 'click', item: 'p2' },
      { event: 'interaction', id: 'd', timestamp: '1769851890000', user: 'u1', type: 'purchase', item: 'p2' },
      { event: 'item', id: 'e', timestamp: '1', item: 'p1', fields: [{ name: 'price', value: 4 }] },
      { event: 'item', id: 'f', timestamp: '2', item: 'p1', fields: [{ name: 'title', value: 'One' }] },
    ];
    const lines = events.map((event) => JSON.stringify(event)).join('\n');
    await withFiles({ ...PROJECT, 'logs/events.jsonl': lines }, async (root) => {
      const { stdout, stderr } = await importInto(root, '--map', 'metarank', '--json');
      expect(stderr).to.equal('');
      expect(JSON.parse(stdout)).to.deep.include({ joined: 2, withoutRequest: 2, entities: { product: 1 } });
      const records = await recordsOf(root);
      const feedback = records.filter(({ kind }) => kind === 'feedback');
      expect(feedback.map((one) => [...cells(one, 'event'), ...cells(one, 'request_id')])).to.deep.equal([
        ['click', 'r1'],
        ['click', 'r2'],
        ['order', undefined],
        ['click', undefined],
      ]);
      expect(cells(records[0], 'cheap')[0]).to.equal(1 / 4);
    });
  });

  it('shows the mistakes in a mapping at their places', async () => {
    const wrong = MAP.replace('positions_from', 'x').replace('into: rankings', 'into: ranking');
    await withFiles({ ...files, 'map.yaml': wrong }, async (root) => {
      const { code, stderr } = await importInto(root, '--map', join(root, 'map.yaml'));
      expect(code).to.equal(2);
      expect(stderr).to.contain('map.yaml:7:11').and.to.contain('rankings');
    });
    const mixed = MAP.replace(
      'map: { product: product_id }',
      'map: { product: product_id }\n    event: click',
    );
    await withFiles({ ...files, 'map.yaml': mixed }, async (root) => {
      const { code, stderr } = await importInto(root, '--map', join(root, 'map.yaml'));
      expect(code).to.equal(2);
      expect(stderr.replaceAll(/\s+/g, ' ')).to.contain('`event` has no meaning with `into: entities`');
    });
  });

  it('names a folder without records, a file that a mapping names in vain, and a missing pipeline', async () => {
    await withFiles({ ...files, 'empty/readme.md': '#' }, async (root) => {
      const empty = await millrace(['ledger', 'import', join(root, 'empty')]);
      expect(empty.stderr).to.contain('has no file of records');
      await writeFile(join(root, 'map.yaml'), MAP.replace('[shown.csv]', '[shwn.csv]'));
      const vain = await importInto(root, '--map', join(root, 'map.yaml'));
      expect(vain.stderr).to.contain('there is no such file').and.to.contain('did you mean shown.csv?');
      const named = await importInto(root, '--map', join(root, 'map.yaml'), '--pipeline', 'serch');
      expect(named.stderr).to.contain('did you mean search?');
    });
  });
});
