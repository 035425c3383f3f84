import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Ledger } from '../../runtime/state/ledger/ledger.js';
import type { DecodedRecord } from '../../runtime/state/ledger/record-decoder.js';
import { cellsOf, memoryLedger } from '../support/memory-ledger.js';
import { idsOf, pluginFiles, startProject, type TestProject } from '../support/project.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');

const SCHEMAS = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes:
  title: string
  price: float
  tags: list(string)
  embedding: vector(2)
  brand: ref(brand)
  cost: { type: float, private: true }
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { age: int }\n',
  'schemas/features/stats.yaml':
    'view: stats\nof: [product]\nfeatures: { ctr: float, sales: { type: int, default: 0 } }\n',
};

const pipeline = (log: string, more = ''): Record<string, string> => ({
  ...SCHEMAS,
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { text: float }, query: query, user: optional(user) }
features: [stats]
define:
  margin: product.price - product.cost
  cheap: product.price < 20
  unused: product.price * 100
components:
  - use: filter
    with: { keep: product.price < 90 }
  - use: linear
    as: ltr
    with: { weights: { product.text: 1, stats:ctr: { weight: 10, missing: 0 } } }
  - use: score
    with: { value: "ltr:score + 0.01 * coalesce(margin, 0) + if(cheap, 0.5, 0)" }
  - use: boost
    with: { where: cheap, multiply: 2 }
  - use: pin
    with: { positions: { 2: p1 } }
  - use: bury
    with: { where: product.price > 70 }
page: { size: 3 }
${log}${more}`,
});

const PRODUCTS = Array.from({ length: 10 }, (_, n) => ({
  product_id: `p${n}`,
  title: `shoe ${n}`,
  price: 10 * n,
  cost: 5 * n,
  tags: n % 2 === 0 ? ['a', 'b'] : [],
  embedding: [n, 0.1],
  brand: n % 3 === 0 ? 'b1' : 'b2',
}));

const body = (more: object = {}): object => ({
  request_id: 'r1',
  query: { query: 'shoe' },
  user: { user_id: 'u1' },
  candidates: PRODUCTS.map(({ product_id }, n) => ({ product_id, text: n / 10 })),
  ...more,
});

interface Logged {
  readonly project: TestProject;
  readonly records: () => Promise<DecodedRecord[]>;
}

async function open(files: Record<string, string>, env: Record<string, string> = {}): Promise<Logged> {
  const { ledger, records } = memoryLedger();
  const project = await startProject(files, { now: () => NOW, ledger, env });
  await project.upload('product', ...PRODUCTS);
  await project.upload('user', { user_id: 'u1', age: 40 });
  await project.push(
    'stats',
    ...PRODUCTS.slice(0, 5).map(({ product_id }, n) => ({ product_id, ctr: n / 100, sales: n })),
  );
  return { project, records };
}

async function logged(
  log: string,
  run: (project: TestProject) => Promise<unknown> = (project) => project.run(body()),
  env: Record<string, string> = {},
): Promise<DecodedRecord[]> {
  const { project, records } = await open(pipeline(log), env);
  try {
    await run(project);
    return await records();
  } finally {
    await project.close();
  }
}

async function one(...args: Parameters<typeof logged>): Promise<DecodedRecord> {
  const [record, ...others] = await logged(...args);
  if (record === undefined || others.length > 0) throw new Error('expected one record');
  return record;
}

const valuesOf = ({ schema }: DecodedRecord): string[] =>
  schema.columns.flatMap(({ is, name }) => (is === 'value' ? [name] : []));

describe('the log of a pipeline', () => {
  it('changes neither the columns nor the reads of a pipeline without it', async () => {
    const { project } = await open(pipeline(''));
    const plain = project.app.pipelines[0]?.describe();
    await project.close();
    const withLog = await open(pipeline('log: {}\n'));
    const same = withLog.project.app.pipelines[0]?.describe();
    await withLog.project.close();
    expect(same).to.deep.equal(plain);
    expect(JSON.stringify(plain)).not.to.contain('unused');
  });

  it('records nothing without it', async () => {
    expect(await logged('')).to.deep.equal([]);
  });

  it('records what models and the score read', async () => {
    const record = await one('log: {}\n');
    expect(valuesOf(record)).to.have.members(['product.text', 'stats:ctr', 'cheap', 'ltr:score', 'margin']);
    expect(record.schema.meta).to.deep.include({
      pipeline: 'search',
      task: 'rank',
      candidate_type: 'product',
      steps: ['filter', 'ltr', 'score', 'boost', 'pin', 'bury'],
    });
  });

  it('equals the answer', async () => {
    const { project, records } = await open(pipeline('log: { candidates: all }\n'));
    const { ranked } = await project.run(body());
    const [record] = await records();
    await project.close();
    if (record === undefined) throw new Error('there is no record');
    expect(cellsOf(record, 'status')).to.deep.equal(['ok']);
    expect(cellsOf(record, 'request_id')).to.deep.equal(['r1']);
    expect(cellsOf(record, 'time')).to.deep.equal([NOW]);
    expect(cellsOf(record, 'sent')).to.deep.equal([10]);
    expect(cellsOf(record, 'left')).to.deep.equal([9]);
    expect(cellsOf(record, 'entities')).to.deep.equal([['query=shoe', 'user=u1']]);
    const ids = cellsOf(record, 'candidate_id') as string[];
    expect(ids).to.deep.equal(PRODUCTS.map(({ product_id }) => product_id));
    const places = cellsOf(record, 'place') as number[];
    const onPage = ids
      .map((id, row) => ({ id, place: places[row] ?? 0 }))
      .filter((_, row) => cellsOf(record, 'on_page')[row] === true)
      .sort((a, b) => a.place - b.place);
    expect(onPage.map(({ id }) => id)).to.deep.equal(idsOf(ranked));
    const scores = cellsOf(record, 'score');
    expect(onPage.map(({ id }) => scores[ids.indexOf(id)])).to.deep.equal(
      ranked.map(({ ranked_score }) => ranked_score),
    );
    expect(places[9]).to.equal(0);
    expect(scores[9]).to.equal(undefined);
    expect(cellsOf(record, 'removed_by')[9]).to.equal(1);
    expect([...places].sort((a, b) => a - b)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('has the base score, and what each rule changed', async () => {
    const record = await one('log: { candidates: all }\n');
    const base = cellsOf(record, 'base_score') as number[];
    const changes = cellsOf(record, 'step').map((step, at) => ({
      step,
      row: cellsOf(record, 'row')[at],
      before: cellsOf(record, 'before')[at],
      after: cellsOf(record, 'after')[at],
      position: cellsOf(record, 'position')[at],
    }));
    expect(changes).to.deep.equal([
      ...[0, 1].map((row) => ({
        step: 4,
        row,
        before: base[row],
        after: (base[row] ?? 0) + Math.abs(base[row] ?? 0),
        position: 0,
      })),
      { step: 5, row: 1, before: undefined, after: undefined, position: 2 },
      { step: 6, row: 8, before: undefined, after: undefined, position: -1 },
    ]);
  });

  it('records the page and a sample, whose weights sum to the candidates sent', async () => {
    const record = await one('log: { sample: 2 }\n');
    const weights = cellsOf(record, 'weight') as number[];
    expect(weights).to.have.length(5);
    expect(weights.reduce((sum, weight) => sum + weight, 0)).to.be.closeTo(10, 1e-9);
    const sent = cellsOf(record, 'sent_at') as number[];
    expect(sent).to.deep.equal([...sent].sort((a, b) => a - b));
    expect(cellsOf(record, 'on_page').filter((is) => is === true)).to.have.length(3);
  });

  it('records a value with its status', async () => {
    const record = await one('log: { candidates: all }\n');
    const ctr = record.value('stats:ctr');
    expect(cellsOf(record, 'stats:ctr')).to.deep.equal([0, 0.01, 0.02, 0.03, 0.04, ...Array<undefined>(5)]);
    expect(ctr?.statusAt(0)).not.to.equal(ctr?.statusAt(9));
  });

  it('computes what only the log names', async () => {
    const record = await one('log: { candidates: all, features: [models, unused, stats] }\n');
    expect(cellsOf(record, 'unused')).to.deep.equal(PRODUCTS.map(({ price }) => price * 100));
    expect(cellsOf(record, 'stats:sales').slice(0, 6)).to.deep.equal([0, 1, 2, 3, 4, 0]);
    expect(valuesOf(record)).to.include('ltr:score');
  });

  it('has no private value', async () => {
    const record = await one('log: { features: all }\n');
    expect(valuesOf(record)).not.to.include('product.cost');
    expect(record.schema.meta['hidden']).to.deep.equal(['product.cost']);
  });

  it('hashes the ids of the types under hash', async () => {
    const env = { MILLRACE_ID_SALT: 'a salt of sixteen characters' };
    const record = await one(
      'log: { unit: user, features: all, hash: [user, product] }\n',
      (project) => project.run(body()),
      env,
    );
    expect(cellsOf(record, 'unit')[0]).to.match(/^h_/);
    expect(cellsOf(record, 'entities')[0]).to.deep.include('query=shoe').and.not.include('user=u1');
    expect(cellsOf(record, 'user.user_id')[0]).to.equal(cellsOf(record, 'unit')[0]);
    for (const id of cellsOf(record, 'candidate_id')) expect(id).to.match(/^h_/);
  });

  it('needs a salt to hash', async () => {
    const { ledger } = memoryLedger();
    const failure = await startProject(pipeline('log: { hash: [user] }\n'), { ledger }).then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    expect(failure?.message).to.contain('MILLRACE_ID_SALT').and.contain('search');
  });

  it('logs all requests of a unit, or none', async () => {
    const users = Array.from({ length: 200 }, (_, n) => `u${n}`);
    const records = await logged('log: { share: 30%, unit: user }\n', async (project) => {
      for (const user_id of [...users, ...users])
        await project.run(body({ request_id: undefined, user: { user_id } }));
    });
    const times = new Map<unknown, number>();
    for (const record of records) {
      const [unit] = cellsOf(record, 'unit');
      times.set(unit, (times.get(unit) ?? 0) + 1);
      expect(cellsOf(record, 'share')).to.deep.equal([0.3]);
    }
    expect([...new Set(times.values())]).to.deep.equal([2]);
    expect(times.size).to.be.within(35, 85);
  });

  it('chooses a request without its unit by the request id', async () => {
    const records = await logged('log: { share: 30%, unit: user }\n', async (project) => {
      for (let n = 0; n < 200; n++) await project.run(body({ request_id: `r${n}`, user: undefined }));
    });
    expect(records.length).to.be.within(35, 85);
    expect(cellsOf(records[0] as DecodedRecord, 'unit')).to.deep.equal([undefined]);
  });

  it('records a request after its answer was handed over', async () => {
    const order: string[] = [];
    const { ledger } = memoryLedger();
    const watched: Ledger = {
      takes: (kind) => ledger.takes(kind),
      add: (...args) => {
        order.push('record');
        ledger.add(...args);
      },
    };
    const project = await startProject(pipeline('log: {}\n'), { now: () => NOW, ledger: watched });
    // A route awaits the answer through several functions before it writes it.
    const route = async (): Promise<unknown> => await (async () => await project.run(body()))();
    await route().then(() => order.push('answer'));
    await nextTurn();
    await project.close();
    expect(order).to.deep.equal(['answer', 'record']);
  });

  it('records a request that fails', async () => {
    const files = {
      ...pipeline('log: { candidates: all }\n'),
      ...pluginFiles('broken', 'filter', "return { select() { throw new Error('oh') } }"),
    };
    files['pipelines/search.yaml'] = (files['pipelines/search.yaml'] ?? '').replace(
      '  - use: score',
      '  - use: broken\n  - use: score',
    );
    const { project, records } = await open(files);
    await project.run(body()).then(
      () => expect.fail('the request should fail'),
      () => undefined,
    );
    const [record] = await records();
    await project.close();
    if (record === undefined) throw new Error('there is no record');
    expect(cellsOf(record, 'status')).to.deep.equal(['component_failed']);
    expect(cellsOf(record, 'sent')).to.deep.equal([10]);
    expect(cellsOf(record, 'place')).to.deep.equal(Array(10).fill(0));
    expect(cellsOf(record, 'stats:ctr')[1]).to.equal(0.01);
    expect(cellsOf(record, 'ltr:score')[1]).to.be.a('number');
    expect(cellsOf(record, 'score')).to.deep.equal(Array(10).fill(undefined));
  });

  it('does not record a wrong request, or an explanation', async () => {
    const records = await logged('log: {}\n', async ({ app, run }) => {
      await run({ candidates: 3 }).catch(() => undefined);
      await app.pipelines[0]?.explain(body(), { requestId: 'r2' });
    });
    expect(records).to.deep.equal([]);
  });

  it('says that an answer is degraded', async () => {
    const files = {
      ...pipeline('log: {}\n'),
      ...pluginFiles('broken', 'filter', "return { select() { throw new Error('oh') } }"),
    };
    files['pipelines/search.yaml'] = (files['pipelines/search.yaml'] ?? '').replace(
      '  - use: score',
      '  - use: broken\n    on_error: skip\n  - use: score',
    );
    const { project, records } = await open(files);
    await project.run(body());
    const [record] = await records();
    await project.close();
    if (record === undefined) throw new Error('there is no record');
    expect(cellsOf(record, 'status')).to.deep.equal(['ok']);
    expect(cellsOf(record, 'degraded')).to.deep.equal([['skipped=broken']]);
  });

  it('records one score of one entity', async () => {
    const { ledger, records } = memoryLedger();
    const project = await startProject(
      {
        'schemas/entities/order.yaml': 'entity: order\nattributes: { total: float }\n',
        'pipelines/risk.yaml': `pipeline: risk
score: order
request: { user: optional(user) }
components:
  - use: score
    with: { value: order.total / 10 }
answer: { high: order.total > 5 }
log: { features: all }
`,
      },
      { ledger },
    );
    await project.app.pipelines[0]?.run({ order: { order_id: 'o1', total: 30 } }, { requestId: 'r1' });
    const [record] = await records();
    await project.close();
    if (record === undefined) throw new Error('there is no record');
    expect(cellsOf(record, 'candidate_id')).to.deep.equal(['o1']);
    expect(cellsOf(record, 'score')).to.deep.equal([3]);
    expect(cellsOf(record, 'order.total')).to.deep.equal([30]);
    expect(cellsOf(record, 'high')).to.deep.equal([1]);
  });
});
