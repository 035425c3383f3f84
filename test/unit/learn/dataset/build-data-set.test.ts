import { expect } from 'chai';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { Status } from '../../../../runtime/ground/api/status.js';
import { buildDataSet, type BuiltDataSet } from '../../../../runtime/learn/dataset/build-data-set.js';
import { MILLION, type DataSetOptions } from '../../../../runtime/learn/dataset/options.js';
import type { DataFormat } from '../../../../runtime/learn/dataset/table-files.js';
import { DAY, HOUR, MadeLedger, MINUTE, START, type MadeFeedback } from '../../../support/made-ledger.js';

type Row = Readonly<Record<string, unknown>>;

const OPTIONS: DataSetOptions = {
  pipeline: undefined,
  label: new Map([
    ['click', 1],
    ['order', 3],
  ]),
  attribute: [],
  window: HOUR,
  examined: { rule: 'page' },
  split: { by: 'time', train: MILLION },
  gap: 0,
  since: -Infinity,
  until: Infinity,
  add: [],
};

interface Built extends BuiltDataSet {
  readonly folder: string;
  readonly train: readonly Row[];
  readonly holdout: readonly Row[];
}

const PRICES = { candidate: { 'product.price': 'float64' } } as const;

describe('buildDataSet', () => {
  const root = mkdtempSync(join(tmpdir(), 'millrace-dataset-'));
  let made = 0;

  after(() => rmSync(root, { recursive: true }));

  async function build(ledger: MadeLedger, more: Partial<DataSetOptions> = {}): Promise<Built> {
    made += 1;
    const source = ledger.write(join(root, `ledger-${made}`));
    const out = join(root, `set-${made}`);
    const built = await buildDataSet(source, out, 'parquet', { ...OPTIONS, ...more });
    return {
      ...built,
      folder: out,
      train: await rowsOf(join(out, 'train.parquet')),
      holdout: await rowsOf(join(out, 'holdout.parquet')),
    };
  }

  /** A ledger that ends a day after its start, so that nothing of the first hours is censored. */
  function ledger(): MadeLedger {
    return new MadeLedger().feedback({ event: 'view', subject: 'p0', time: START + DAY });
  }

  function labels(rows: readonly Row[]): Record<string, unknown> {
    return Object.fromEntries(
      rows.map(({ request_id: r, candidate_id: c, label }) => [`${String(r)} ${String(c)}`, label]),
    );
  }

  it('joins feedback by request id and candidate, and gives the highest grade of the kinds', async () => {
    const { train, manifest } = await build(
      ledger()
        .ranking(
          {
            request: 'r1',
            time: START,
            candidates: [{ id: 'a', values: { 'product.price': 2.5 } }, { id: 'b' }],
          },
          PRICES,
        )
        .ranking({ request: 'r2', time: START + MINUTE, candidates: [{ id: 'a' }] }, PRICES)
        .feedback({ event: 'click', request: 'r1', subject: 'a', time: START + 1000 })
        .feedback({ event: 'order', request: 'r1', subject: 'a', time: START + 2000 })
        .feedback({ event: 'click', request: 'r2', subject: 'b', time: START + 3000 }),
    );
    expect(labels(train)).to.deep.equal({ 'r1 a': 3, 'r1 b': 0, 'r2 a': 0 });
    expect(train[0]).to.deep.include({ place: 1n, weight: 1, examined: true, 'product.price': 2.5 });
    expect(train[1]).to.deep.include({ place: 2n, 'product.price': null });
    expect(train[0]?.time).to.deep.equal(new Date(START));
    expect(manifest.attribution).to.deep.include({ by_request: 2, orphans: 1, unused: 1 });
    expect(manifest.requests).to.deep.include({ train: 2, holdout: 0, without_feedback: 1 });
    expect(manifest.features[0]?.statuses).to.deep.equal({ present: 1, absent: 2 });
  });

  it('keeps requests without feedback, and counts feedback that comes again', async () => {
    const click = { event: 'click', request: 'r1', subject: 'a', time: START + 1000 };
    const { train, manifest } = await build(
      ledger()
        .ranking({ request: 'r1', time: START, candidates: [{ id: 'a' }] })
        .ranking({ request: 'r2', time: START, candidates: [{ id: 'a' }] })
        .feedback(click)
        .feedback({ ...click, time: START + 5000 }),
    );
    expect(labels(train)).to.deep.equal({ 'r1 a': 1, 'r2 a': 0 });
    expect(manifest.attribution).to.deep.include({ by_request: 1, duplicates: 1 });
    expect(manifest.requests.without_feedback).to.equal(1);
  });

  it('counts feedback later than the window, and does not use it', async () => {
    const { train, manifest } = await build(
      ledger()
        .ranking({ request: 'r1', time: START, candidates: [{ id: 'a' }, { id: 'b' }] })
        .feedback({ event: 'click', request: 'r1', subject: 'a', time: START + HOUR })
        .feedback({ event: 'click', request: 'r1', subject: 'b', time: START + HOUR + 1 }),
    );
    expect(labels(train)).to.deep.equal({ 'r1 a': 1, 'r1 b': 0 });
    expect(manifest.attribution).to.deep.include({ by_request: 1, late: 1 });
  });

  it('leaves out rankings younger than the window, and failed ones', async () => {
    const { train, manifest } = await build(
      ledger()
        .ranking({ request: 'old', time: START + DAY - HOUR, candidates: [{ id: 'a' }] })
        .ranking({ request: 'young', time: START + DAY - HOUR + 1, candidates: [{ id: 'a' }] })
        .ranking({ request: 'failed', time: START, status: 'deadline_exceeded', candidates: [{ id: 'a' }] })
        .feedback({ event: 'click', request: 'young', subject: 'a', time: START + DAY })
        .feedback({ event: 'click', request: 'failed', subject: 'a', time: START + DAY }),
    );
    expect(labels(train)).to.deep.equal({ 'old a': 0 });
    expect(manifest.requests).to.deep.include({ train: 1, censored: 1, failed: 1 });
    expect(manifest.attribution).to.deep.include({ outside: 2, orphans: 0 });
  });

  it('says what to do if all requests are younger than the window', async () => {
    const young = new MadeLedger().ranking({ request: 'r', time: START, candidates: [{ id: 'a' }] });
    const error = await build(young).catch((caught: unknown) => caught);
    expect(error).to.include({
      message: 'all 1 requests are younger than the window of 1 h: their feedback may still come',
      help: 'use a shorter --window, e.g. --window 1h',
    });
  });

  it('gives feedback without a request id the last click of the same user on the same candidate', async () => {
    const clicked = (request: string, time: number, user: string): MadeFeedback => ({
      event: 'click',
      request,
      subject: 'a',
      time,
      user,
    });
    const order = { event: 'order', subject: 'a', user: 'ann', time: START + 10 * MINUTE };
    const { train, manifest } = await build(
      ledger()
        .ranking({ request: 'r1', time: START, candidates: [{ id: 'a' }, { id: 'b' }] })
        .ranking({ request: 'r2', time: START + MINUTE, candidates: [{ id: 'a' }] })
        .ranking({ request: 'r3', time: START + 2 * MINUTE, candidates: [{ id: 'a' }] })
        .feedback(clicked('r1', START + 1000, 'ann'))
        .feedback(clicked('r2', START + MINUTE + 1000, 'ann'))
        .feedback(clicked('r3', START + 2 * MINUTE, 'bob'))
        .feedback(order)
        // Before the first click, of another candidate, of nobody, after the window of the click.
        .feedback({ ...order, time: START + 999 })
        .feedback({ ...order, subject: 'b' })
        .feedback({ ...order, user: undefined })
        .feedback({ ...order, user: 'bob', time: START + 33 * MINUTE }),
      { attribute: [{ event: 'order', window: 30 * MINUTE }] },
    );
    expect(labels(train)).to.deep.equal({ 'r1 a': 1, 'r1 b': 0, 'r2 a': 3, 'r3 a': 1 });
    expect(manifest.attribution).to.deep.include({ by_request: 3, by_last_click: 1, orphans: 4 });
  });

  it('marks the rows of the page as examined, or those down to the last click and K below it', async () => {
    const rankings = (): MadeLedger =>
      ledger()
        .ranking({
          request: 'r1',
          time: START,
          candidates: [...['a', 'b', 'c', 'd'].map((id) => ({ id })), { id: 'e', onPage: false, weight: 4 }],
        })
        .ranking({ request: 'r2', time: START + 1, candidates: [{ id: 'a' }, { id: 'b' }] })
        .feedback({ event: 'click', request: 'r1', subject: 'b', time: START + 1 });
    const examined = ({ train }: Built): unknown[] => train.map((row) => row.examined);
    const page = await build(rankings());
    expect(examined(page)).to.deep.equal([true, true, true, true, false, true, true]);
    expect(page.train[4]).to.include({ candidate_id: 'e', weight: 4 });
    expect(page.manifest.examined).to.deep.equal({ rule: 'page', propensities: true });
    const cut = await build(rankings(), { examined: { rule: 'last_click', further: 1 } });
    expect(examined(cut)).to.deep.equal([true, true, true, false, false, true, false]);
    expect(cut.manifest.examined).to.deep.equal({ rule: 'last_click+1', propensities: false });
    expect(cut.warnings.join()).to.contain('do not use weights by propensity');
  });

  it('merges the pages of a request, each candidate once', async () => {
    const { train, manifest } = await build(
      ledger()
        .ranking({
          request: 'r1',
          time: START + 1000,
          candidates: [
            { id: 'c', place: 3 },
            { id: 'd', place: 4 },
            { id: 'f', place: 6, onPage: false, weight: 3 },
          ],
        })
        .ranking({
          request: 'r1',
          time: START,
          candidates: [
            { id: 'a', place: 1 },
            { id: 'b', place: 2 },
            { id: 'd', place: 4, onPage: false, weight: 5 },
            { id: 'e', place: 5, onPage: false, weight: 5 },
            { id: 'gone', place: 0, onPage: false },
          ],
        })
        .feedback({ event: 'click', request: 'r1', subject: 'd', time: START + HOUR })
        .feedback({ event: 'click', request: 'r1', subject: 'c', time: START + HOUR + 1 }),
    );
    expect(train.map(({ candidate_id: id, weight, label }) => [id, weight, label])).to.deep.equal([
      ['a', 1, 0],
      ['b', 1, 0],
      ['c', 1, 0],
      ['d', 1, 1],
      ['e', 5, 0],
    ]);
    const times = new Set(train.map(({ time }) => Number(time)));
    expect(times, 'the time of the first page').to.deep.equal(new Set([START]));
    expect(manifest.requests.train).to.equal(1);
  });

  it('holds out the last requests, with a gap before them', async () => {
    const rankings = ledger();
    for (let at = 0; at < 10; at++)
      rankings.ranking({ request: `r${at}`, time: START + at * HOUR, candidates: [{ id: 'a' }] });
    const { train, holdout, manifest } = await build(rankings, {
      split: { by: 'time', train: 0.8 * MILLION },
      gap: 2 * HOUR,
    });
    const ids = (rows: readonly Row[]): unknown[] => rows.map((row) => row.request_id);
    expect(ids(train)).to.deep.equal(['r0', 'r1', 'r2', 'r3', 'r4', 'r5']);
    expect(ids(holdout)).to.deep.equal(['r8', 'r9']);
    expect(manifest.requests).to.include({ train: 6, gap: 2, holdout: 2 });
    expect(manifest.split).to.deep.equal({
      by: 'time',
      train: 0.8,
      at: new Date(START + 8 * HOUR).toISOString(),
      gap_ms: 2 * HOUR,
    });
  });

  it('holds out all requests of some users by a hash of their id', async () => {
    const rankings = ledger();
    for (let at = 0; at < 400; at++)
      rankings.ranking({
        request: `r${at}`,
        time: START + at,
        candidates: [{ id: `u${at % 100}` }],
        entities: ['query=tv', `user=u${at % 100}`],
      });
    const { train, holdout } = await build(rankings, {
      split: { by: 'hash', type: 'user', train: 0.8 * MILLION },
    });
    const users = (rows: readonly Row[]): Set<unknown> => new Set(rows.map((row) => row.candidate_id));
    expect(train.length + holdout.length).to.equal(400);
    expect([...users(train)].filter((user) => users(holdout).has(user))).to.deep.equal([]);
    expect(users(train).size).to.be.within(70, 90);
  });

  it('warns if requests do not have the entity that divides them', async () => {
    const rankings = ledger();
    for (let at = 0; at < 40; at++)
      rankings.ranking({
        request: `r${at}`,
        time: START + at,
        candidates: [{ id: 'a' }],
        entities: at < 30 ? ['query=tv'] : ['query=tv', `user=u${at}`],
      });
    const { warnings } = await build(rankings, { split: { by: 'hash', type: 'user', train: 0.5 * MILLION } });
    expect(warnings).to.include('30 of 40 requests have no user: --split divides them by their own ids');
  });

  it('refuses a split by an entity that no request has', async () => {
    const rankings = ledger();
    for (let at = 0; at < 4; at++)
      rankings.ranking({
        request: `r${at}`,
        time: START + at,
        candidates: [{ id: 'a' }],
        entities: [`user=u${at}`],
      });
    const built = build(rankings, { split: { by: 'hash', type: 'usr', train: 0.9 * MILLION } });
    const problem = await built.then(
      () => undefined,
      (error: unknown) => error as { readonly message: string; readonly help?: string },
    );
    expect(problem?.message).to.equal('no request has a usr, so --split cannot divide them by it');
    expect(problem?.help).to.equal('did you mean --split hash:user:90%?');
  });

  it('takes the rankings of one pipeline in a range of time', async () => {
    const rankings = (): MadeLedger =>
      ledger()
        .ranking({ request: 'r1', time: START, candidates: [{ id: 'a' }] })
        .ranking({ request: 'r2', time: START + HOUR, candidates: [{ id: 'a' }] })
        .ranking(
          { request: 'r3', time: START + HOUR, candidates: [{ id: 'a' }] },
          {},
          { pipeline: 'related' },
        )
        .feedback({ event: 'click', request: 'r1', subject: 'a', time: START + 1 })
        .feedback({ event: 'click', request: 'r3', subject: 'a', time: START + HOUR });
    const error = await build(rankings()).catch((caught: unknown) => caught);
    expect(error).to.have.property('help', 'name one of them, as in `dataset build related`');
    const { train, manifest } = await build(rankings(), { pipeline: 'search', since: START + 1 });
    expect(labels(train)).to.deep.equal({ 'r2 a': 0 });
    expect(manifest.attribution).to.deep.include({ outside: 2, orphans: 0 });
  });

  it('keeps the statuses of values: what is absent stays absent', async () => {
    const types = {
      request: { 'query.query': 'text' },
      candidate: { 'stats:ctr': 'float64', 'product.brand': 'text', 'product.tags': 'texts' },
    } as const;
    const { train, manifest } = await build(
      ledger()
        .ranking(
          {
            request: 'r1',
            time: START,
            values: { 'query.query': 'tv' },
            candidates: [
              { id: 'a', values: { 'stats:ctr': 0, 'product.brand': '' } },
              { id: 'b', statuses: { 'stats:ctr': Status.expired } },
            ],
          },
          types,
        )
        .ranking(
          { request: 'r2', time: START + 1, candidates: [{ id: 'a', values: { 'stats:ctr': 1 } }] },
          { candidate: { 'stats:ctr': 'float64' } },
          { version: 'v2' },
        ),
    );
    expect(train.map((row) => [row['query.query'], row['stats:ctr'], row['product.brand']])).to.deep.equal([
      ['tv', 0, ''],
      ['tv', null, null],
      [null, 1, null],
    ]);
    const statuses = Object.fromEntries(manifest.features.map(({ name, statuses: its }) => [name, its]));
    expect(statuses).to.deep.equal({
      'query.query': { present: 2, not_logged: 1 },
      'stats:ctr': { present: 2, expired: 1 },
      'product.brand': { present: 1, absent: 1, not_logged: 1 },
    });
    expect(manifest.pipeline_versions).to.deep.equal({ v1: 1, v2: 1 });
    expect(manifest.left_out).to.deep.equal([
      { name: 'product.tags', type: 'texts', reason: 'lists are not columns' },
    ]);
    expect(manifest.features.map(({ scope }) => scope)).to.deep.equal(['request', 'candidate', 'candidate']);
  });

  it('makes a column of each element of a vector', async () => {
    const types = {
      request: { 'user.taste': 'vector' },
      candidate: { 'product.embedding': 'vector' },
    } as const;
    const candidates = [
      { id: 'a', values: { 'product.embedding': [0.5, 1] } },
      {
        id: 'b',
        values: { 'product.embedding': [NaN, NaN] },
        statuses: { 'product.embedding': Status.missing_entity },
      },
    ];
    const values = { 'user.taste': [2, 3] };
    const { train, manifest } = await build(
      ledger().ranking({ request: 'r1', time: START, candidates, values }, types),
    );
    const names = ['user.taste[0]', 'user.taste[1]', 'product.embedding[0]', 'product.embedding[1]'];
    expect(train.map((row) => names.map((name) => row[name]))).to.deep.equal([
      [2, 3, 0.5, 1],
      [2, 3, null, null],
    ]);
    expect(manifest.features.map(({ name }) => name)).to.deep.equal(names);
    expect(manifest.features[2]?.statuses).to.deep.equal({ present: 1, missing_entity: 1 });
    expect(manifest.left_out).to.deep.equal([]);
  });

  it('renames the column of a feature that has the name of another column', async () => {
    const { train, manifest } = await build(
      ledger().ranking(
        { request: 'r1', time: START, candidates: [{ id: 'a', values: { weight: 2.5 } }] },
        { candidate: { weight: 'float64' } },
      ),
    );
    expect(train[0]).to.include({ weight: 1, 'feature:weight': 2.5 });
    expect(manifest.features[0]).to.include({ name: 'weight', column: 'feature:weight' });
  });

  it('adds a feature of the history of a view, as it was known when the ranking was served', async () => {
    const source = ledger().ranking({
      request: 'r1',
      time: START,
      candidates: ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id })),
    });
    const push = (id: string, time: number, stored: number, ctr: number): void => {
      const row = { keys: [id], time, stored, values: { ctr } };
      source.history('stats', ['product'], 2 * HOUR, { ctr: 'float64' }, row);
    };
    push('a', START - HOUR, START - HOUR, 1);
    push('a', START - 2 * MINUTE, START - MINUTE, 2); // the one that was known
    push('a', START - MINUTE, START + MINUTE, 3); // stored later
    push('a', START + MINUTE, START - MINUTE, 4); // of a later time
    push('b', START - 2 * HOUR, START - 2 * HOUR, 5); // as old as it may be
    push('c', START - 2 * HOUR - 1, START - HOUR, 6); // expired
    push('d', START, START, 7);
    const { train, manifest } = await build(source, { add: [{ view: 'stats', feature: 'ctr' }] });
    expect(train.map((row) => row['stats:ctr'])).to.deep.equal([2, 5, null, 7, null]);
    expect(manifest.features).to.have.length(1);
    expect(manifest.features[0]).to.deep.include({
      name: 'stats:ctr',
      scope: 'candidate',
      statuses: { present: 3, missing_feature: 1, expired: 1 },
    });
  });

  it('adds features of views of the user, of pairs and of what the candidate refers to', async () => {
    const types = { candidate: { 'product.brand': 'text' } } as const;
    const source = ledger()
      .ranking(
        {
          request: 'r1',
          time: START,
          entities: ['user=ann'],
          candidates: [
            { id: 'a', values: { 'product.brand': 'x' } },
            { id: 'b', values: { 'product.brand': 'y' } },
          ],
        },
        types,
      )
      .ranking({ request: 'r2', time: START + 1, candidates: [{ id: 'a' }] }, types)
      .history(
        'of_user',
        ['user'],
        null,
        { n: 'float64' },
        { keys: ['ann'], time: START - 1, values: { n: 5 } },
      )
      .history(
        'of_pair',
        ['user', 'brand'],
        null,
        { t: 'text' },
        {
          keys: ['ann', 'y'],
          time: START - 1,
          values: { t: 'hot' },
        },
      );
    const { train, manifest } = await build(source, {
      add: [
        { view: 'of_user', feature: 'n' },
        { view: 'of_pair', feature: 't' },
      ],
    });
    expect(train.map((row) => [row['of_user:n'], row['of_pair:t']])).to.deep.equal([
      [5, null],
      [5, 'hot'],
      [null, null],
    ]);
    const [, added] = manifest.features;
    expect(added?.statuses).to.deep.equal({ present: 2, missing_entity: 1 });
    const error = await build(source, { add: [{ view: 'of_usr', feature: 'n' }] }).catch(
      (caught: unknown) => caught,
    );
    expect(error)
      .to.have.property('message')
      .that.contains('no history of the view of_usr; it has that of of_pair, of_user');
  });

  describe('files', () => {
    const types = { candidate: { 'product.title': 'text', 'product.price': 'float64' } } as const;

    async function files(format: DataFormat): Promise<(name: string) => string> {
      made += 1;
      const source = ledger()
        .ranking(
          {
            request: 'r,1',
            time: START,
            candidates: [
              { id: 'a"', values: { 'product.title': 'Red, "big"\nshoe', 'product.price': 0.1 } },
              { id: 'b', values: { 'product.title': '' } },
            ],
          },
          types,
        )
        .ranking(
          { request: 'r2', time: START + 1, candidates: [{ id: 'a', values: { 'product.price': -2e21 } }] },
          types,
        )
        .feedback({ event: 'click', request: 'r,1', subject: 'b', time: START + 1 })
        .write(join(root, `ledger-${made}`));
      const out = join(root, `set-${made}`);
      await buildDataSet(source, out, format, OPTIONS);
      expect(existsSync(join(out, '.work'))).to.equal(false);
      return (name) => readFileSync(join(out, name), 'utf8');
    }

    it('quote CSV as RFC 4180 says; null is an empty cell, and an empty text is ""', async () => {
      const read = await files('csv');
      expect(read('train.csv').split('\n')).to.deep.equal([
        'request_id,time,candidate_id,place,label,weight,examined,product.title,product.price',
        '"r,1",2026-11-01T00:00:00.000Z,"a""",1,0,1,true,"Red, ""big""',
        'shoe",0.1',
        '"r,1",2026-11-01T00:00:00.000Z,b,2,1,1,true,"",',
        'r2,2026-11-01T00:00:00.001Z,a,1,0,1,true,,-2e+21',
        '',
      ]);
    });

    it('have LibSVM lines with groups, weights and the names of the columns', async () => {
      const read = await files('libsvm');
      expect(read('train.libsvm')).to.equal('0 1:0 2:0.1\n1 1:1 2:nan\n0 1:nan 2:-2e+21\n');
      expect(read('train.group')).to.equal('2\n1\n');
      expect(read('train.weight')).to.equal('1\n1\n1\n');
      expect(JSON.parse(read('columns.json'))).to.deep.equal({
        columns: [
          { column: 1, name: 'product.title', categories: ['Red, "big"\nshoe', ''] },
          { column: 2, name: 'product.price' },
        ],
      });
    });

    it('replace an earlier data set, and never another folder', async () => {
      const source = ledger()
        .ranking({ request: 'r', time: START, candidates: [{ id: 'a' }] })
        .write(join(root, 'replaced'));
      const out = join(root, 'replaced-set');
      await buildDataSet(source, out, 'csv', OPTIONS);
      await buildDataSet(source, out, 'libsvm', OPTIONS);
      expect(existsSync(join(out, 'train.csv'))).to.equal(false);
      const never = { ...OPTIONS, since: START + DAY };
      await buildDataSet(source, out, 'csv', never).catch(() => undefined);
      expect(existsSync(join(out, 'train.libsvm')), 'after a build that failed').to.equal(true);
      expect(existsSync(join(out, '.work'))).to.equal(false);
      writeFileSync(join(source, 'manifest.json'), '{}');
      const error = await buildDataSet(source, source, 'csv', OPTIONS).catch((caught: unknown) => caught);
      expect(error).to.have.property('message').that.contains('is not empty, and is not a data set');
    });
  });
});

async function rowsOf(path: string): Promise<readonly Row[]> {
  const bytes = readFileSync(path);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  return parquetReadObjects({ file, compressors });
}
