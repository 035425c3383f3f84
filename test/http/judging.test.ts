import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { compares } from '../../runtime/cli/compare/compares.js';
import { itWith } from '../support/needs.js';
import { millrace } from '../support/command-line.js';
import { JUDGE_SHOP, JUDGED_PRODUCTS, serveJudgeShop, type JudgeShop } from '../support/judge-shop.js';
import { MemoryStore } from '../support/memory-store.js';
import { writeProject } from '../support/project.js';
import { call, post } from './harness.js';

const run = promisify(execFile);

interface View {
  readonly candidates: readonly { readonly candidate_id: string; readonly grade: number | null }[];
  readonly done: readonly number[];
  readonly judge: string;
}

describe('judging over HTTP', function () {
  this.timeout(60_000);
  let root = '';
  let one: JudgeShop;
  let other: JudgeShop;

  before(async () => {
    root = await writeProject(JUDGE_SHOP);
    const store = new MemoryStore();
    one = await serveJudgeShop(root, store);
    other = await serveJudgeShop(root, store, {});
  });
  after(async () => {
    await one.close();
    await other.close();
    await rm(root, { recursive: true, force: true });
  });

  const at = (shop: JudgeShop, route: string): string => `${shop.url}/api/v1/judging/${route}`;
  const start = (round: string, more: object = {}): ReturnType<typeof post> =>
    post(at(one, 'start'), {
      ...{ round, depth: 4, queries: ['zelt', 'rucksack', '"quoted", with comma', 'bett', 'tisch', 'stuhl'] },
      ...{ arms: [{ pipeline: 'shop' }, { pipeline: 'shop_new' }], ...more },
    });
  async function view(shop: JudgeShop, body: object): Promise<View> {
    const { status, json, text } = await post(at(shop, 'query'), body);
    expect(status, text).to.equal(200);
    return json as unknown as View;
  }

  it('pools the first candidates of the arms, and mixes them by the judge', async () => {
    expect((await start('mixed')).status).to.equal(200);
    const body = { round: 'mixed', number: 1 };
    const anna = await view(one, { ...body, judge: 'anna' });
    const ids = anna.candidates.map((shown) => shown.candidate_id);
    expect([...ids].sort()).to.deep.equal(['p0', 'p1', 'p2', 'p26', 'p27', 'p28', 'p29', 'p3']);
    expect(JSON.stringify(anna)).not.to.match(/score|shop_new|place/);
    const ben = await view(other, { ...body, judge: 'ben' });
    const others = ben.candidates.map((shown) => shown.candidate_id);
    expect(others).to.have.members(ids).and.not.deep.equal(ids);
    // A judge who comes back finds the same order.
    expect(await view(other, { ...body, judge: 'anna' })).to.deep.equal(anna);
  });

  it('takes other values of params as an arm', async () => {
    const arms = [{ pipeline: 'shop', params: { w_price: 0, w_lumen: 50 } }];
    expect((await start('params', { arms })).status).to.equal(200);
    const { candidates } = await view(one, { round: 'params', number: 1 });
    expect(candidates.map((shown) => Number(shown.candidate_id.slice(1)) % 2)).to.deep.equal([1, 1, 1, 1]);
    // A process that ranks compiles the pipeline again for it.
    const ranking = await view(other, { round: 'params', number: 2 });
    expect(ranking.candidates.map((shown) => Number(shown.candidate_id.slice(1)) % 2)).to.deep.equal([
      1, 1, 1, 1,
    ]);
  });

  it('loses nothing of two judges on two instances, and exports what evaluate and tune read', async () => {
    await start('both');
    const graded = async (shop: JudgeShop, judge: string, number: number): Promise<void> => {
      const { candidates } = await view(shop, { round: 'both', number, judge });
      await Promise.all(
        candidates.map(async ({ candidate_id }) => {
          const grade = Number(candidate_id.slice(1)) < 20 ? 3 : judge === 'anna' ? 0 : 1;
          const grades = [{ candidate_id, grade }];
          const { status, text } = await post(at(shop, 'grade'), { round: 'both', number, judge, grades });
          expect(status, text).to.equal(200);
        }),
      );
    };
    await Promise.all([1, 2, 3, 4, 5, 6].flatMap((n) => [graded(one, 'anna', n), graded(other, 'ben', n)]));
    expect((await view(other, { round: 'both', number: 1, judge: 'anna' })).done).to.deep.equal([
      1, 2, 3, 4, 5, 6,
    ]);
    const { json } = await post(at(other, 'export'), { round: 'both' });
    expect(json).to.deep.include({ queries: 6, rows: 48, file: 'both.csv' });
    expect(json?.['judges']).to.deep.equal([
      { judge: 'anna', grades: 48, skipped: 0 },
      { judge: 'ben', grades: 48, skipped: 0 },
    ]);
    const agreement = json?.['agreement'] as { percent: number; alpha: number };
    expect(agreement.percent).to.equal(0.5);
    expect(agreement.alpha).to.be.within(0.3, 0.9);
    const path = join(root, 'judgments', 'both.csv');
    await mkdir(join(root, 'judgments'), { recursive: true });
    await writeFile(path, String(json?.['csv']));
    await writeFile(
      join(root, 'products.jsonl'),
      JUDGED_PRODUCTS.map((product) => JSON.stringify(product)).join('\n'),
    );
    const embedded = ['--project', root, '--store', 'embedded'];
    await millrace(['entities', 'load', 'product', join(root, 'products.jsonl'), ...embedded]);
    const where = ['--project', root, '--store', 'embedded', '--judgments', path];
    const evaluated = await millrace(['evaluate', 'shop', ...where, '--metrics', 'ndcg@4', '--json']);
    expect(evaluated.code, evaluated.stderr).to.equal(0);
    expect(JSON.parse(evaluated.stdout)).to.deep.include({ queries: 6 });
    const tuned = await millrace(['tune', 'shop', ...where, '--json']);
    expect(tuned.code, tuned.stderr).to.equal(0);
  });

  it('leaves out skipped queries, takes grades back, and gives the lower median of several judges', async () => {
    await start('few', { queries: ['zelt', 'bett'] });
    const [first] = (await view(one, { round: 'few', number: 1 })).candidates;
    const id = first?.candidate_id ?? '';
    const grade = (judge: string, value: number | null, more: object = {}): ReturnType<typeof post> =>
      post(at(one, 'grade'), {
        ...{ round: 'few', number: 1, judge, grades: [{ candidate_id: id, grade: value }] },
        ...more,
      });
    await grade('anna', 0);
    await grade('ben', 3);
    await grade('cem', 2);
    await grade('dora', 1, { skipped: true });
    const csv = async (): Promise<unknown> => (await post(at(one, 'export'), { round: 'few' })).json?.['csv'];
    expect(await csv()).to.equal(`query,id,grade\nzelt,${id},2\n`);
    await grade('cem', null);
    expect(await csv()).to.equal(`query,id,grade\nzelt,${id},0\n`);
    const added = await post(at(one, 'add'), { round: 'few', query: 'zelt', candidate_id: 'p12' });
    expect(added.json).to.deep.equal({ round: 'few', number: 1 });
    const ids = (await view(one, { round: 'few', number: 1 })).candidates.map((shown) => shown.candidate_id);
    expect(ids).to.include('p12').and.to.have.length(9);
    expect(await csv()).to.equal(`query,id,grade\nzelt,${id},0\n`);
  });

  it('refuses what it does not take, with the place', async () => {
    const refused = async (answer: Promise<{ status: number; json?: unknown }>): Promise<unknown> => {
      const { status, json } = await answer;
      const { code, errors = [] } = json as { code: string; errors?: { pointer: string }[] };
      return [status, code, ...errors.map(({ pointer }) => pointer)];
    };
    expect(await refused(start('Bad Name'))).to.deep.equal([422, 'invalid_body', '/round']);
    expect(await refused(start('x', { arms: [{ pipeline: 'shp' }] }))).to.deep.equal([
      ...[422, 'invalid_body', '/arms/0/pipeline'],
    ]);
    expect(await refused(start('x', { arms: [] }))).to.deep.equal([422, 'invalid_body', '/arms']);
    expect(await refused(start('x', { arms: [{ pipeline: 'shop', params: { w_price: 9 } }] }))).to.deep.equal(
      [422, 'invalid_body', '/arms/0/params'],
    );
    expect(await refused(start('x', { queries: ['a', '=cmd|x', 'a'] }))).to.deep.equal([
      ...[422, 'invalid_body', '/queries/1', '/queries/2'],
    ]);
    expect(await refused(start('x', { grades: [1, 1] }))).to.deep.equal([422, 'invalid_body', '/grades']);
    await start('once');
    expect(await refused(start('once'))).to.deep.equal([409, 'round_exists']);
    const once = { round: 'once', number: 1 };
    expect(await refused(post(at(one, 'query'), { ...once, number: 7 }))).to.deep.equal([
      ...[422, 'invalid_body', '/number'],
    ]);
    const grades = [{ candidate_id: '__proto__', grade: 3 }];
    expect(await refused(post(at(one, 'grade'), { ...once, grades }))).to.deep.equal([
      ...[422, 'invalid_body', '/grades'],
    ]);
    await view(one, once);
    expect(await refused(post(at(one, 'grade'), { ...once, grades }))).to.deep.equal([
      ...[422, 'invalid_body', '/grades'],
    ]);
    expect(
      await refused(post(at(one, 'grade'), { ...once, grades: [{ candidate_id: 'p1', grade: 4 }] })),
    ).to.deep.equal([422, 'invalid_body', '/grades/0/grade']);
    expect(await refused(post(at(one, 'query'), { round: 'onse', number: 1 }))).to.deep.equal([
      ...[404, 'unknown_round'],
    ]);
    expect((await post(at(other, 'remove'), { round: 'once' })).json).to.deep.equal({ removed: 'once' });
    expect(await refused(post(at(one, 'query'), once))).to.deep.equal([404, 'unknown_round']);
    const { json } = await call(`${one.url}/api/v1/judging`);
    const rounds = (json as { rounds: { round: string }[] }).rounds.map(({ round }) => round);
    expect(rounds).not.to.include('once');
  });

  it('keeps at most 20 rounds', async () => {
    const statuses: number[] = [];
    for (let number = 0; number < 21; number++) statuses.push((await start(`round_${number}`)).status);
    expect(statuses.at(-1)).to.equal(409);
    const { json } = await call(`${one.url}/api/v1/judging`);
    const { rounds } = json as { rounds: { round: string }[] };
    expect(rounds).to.have.length(20);
    for (const { round } of rounds) await post(at(one, 'remove'), { round });
  });
});

describe('one ranking in the process of the workbench', function () {
  this.timeout(60_000);
  let root = '';
  let shop: JudgeShop;

  before(async () => {
    root = await writeProject(JUDGE_SHOP);
    shop = await serveJudgeShop(root, new MemoryStore(), { compares, records: true });
  });
  after(async () => {
    await shop.close();
    await rm(root, { recursive: true, force: true });
  });

  const body = { query: 'zelt', candidates: { from: 'index', where: 'true' } };
  const order = (json: unknown): string[] =>
    (json as { page: { candidate_id: string }[] }).page.map(({ candidate_id: id }) => id);

  itWith('git', 'tries values of params, and shows the change of the file, which git applies', async () => {
    const explain = `${shop.url}/api/v1/shop/explain`;
    const { json: before } = await post(explain, body);
    expect(order(before).slice(0, 3)).to.deep.equal(['p0', 'p1', 'p2']);
    const { json } = await post(`${explain}?param=w_price=0.5&param=w_lumen=40`, body);
    expect(order(json).slice(0, 3)).to.deep.equal(['p1', 'p3', 'p5']);
    expect(json?.['params']).to.deep.equal({ w_price: 0.5, w_lumen: 40 });
    const { json: same } = await post(`${explain}?param=w_price=1`, body);
    expect([order(same), same?.['params_diff']]).to.deep.equal([order(before), '']);
    const copy = await writeProject(JUDGE_SHOP);
    try {
      await writeFile(join(copy, 'change.diff'), String(json?.['params_diff']));
      await run('git', ['apply', '--check', 'change.diff'], { cwd: copy });
      await run('git', ['apply', 'change.diff'], { cwd: copy });
      const changed = await readFile(join(copy, 'pipelines/shop.yaml'), 'utf8');
      expect(changed).to.include('w_price: { value: 0.5, min: 0, max: 3 }');
      expect(changed).to.include('w_lumen: { value: 40, min: 0, max: 100 } # the brand Lumen');
      const validated = await millrace(['validate', '--project', copy]);
      expect(validated.code, validated.stderr).to.equal(0);
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
    for (const param of ['w_price', 'w_price=x', 'w_prise=1', 'w_price=7', 'constructor=1'])
      expect((await post(`${explain}?param=${param}`, body)).status, param).to.equal(422);
  });

  it('reads a logged request with the values that it had', async () => {
    const { json: ranked } = await post(`${shop.url}/api/v1/shop`, { ...body, request_id: 'r1' });
    expect(ranked).to.have.property('ranked_candidates');
    await post(`${shop.url}/api/v1/entities/update`, {
      entity_type: 'product',
      entities: [{ product_id: 'p1', price: 90 }],
    });
    const read = (id: string): ReturnType<typeof post> =>
      post(`${shop.url}/api/v1/rankings/logged`, { request_id: id });
    let answer = await read('r1');
    // Records are written soon after the answer.
    while (answer.status === 404) answer = await read('r1');
    const { json } = answer;
    expect(json).to.deep.include({ request_id: 'r1', pipeline: 'shop' });
    expect(json?.['notes']).to.deep.equal(['the log lacks query: the request is sent without it']);
    const logged = json?.['candidates'] as { candidate_id: string; place: number; values: object }[];
    expect(logged[1]).to.deep.include({ candidate_id: 'p1', place: 2, score: 89 });
    expect(logged[1]?.values).to.have.deep.property('product.price', { value: 11, status: 'present' });
    expect(logged.at(-1)).to.deep.include({ candidate_id: 'p29', place: null });
    const { json: now } = await post(`${shop.url}/api/v1/shop/explain`, json?.['body']);
    expect(order(now)[1]).to.equal('p2');
    expect((await read('none')).json?.['code']).to.equal('unknown_logged_request');
  });

  it('keeps a ranking as a test that passes', async () => {
    const { status, json, text } = await post(`${shop.url}/api/v1/rankings/keep`, {
      ...{ test: 'zelte', pipeline: 'shop', request: { ...body, user_page_size: 5 } },
    });
    expect(status, text).to.equal(200);
    expect(json).to.deep.include({ file: 'tests/zelte.yaml', notes: [] });
    await mkdir(join(root, 'tests'), { recursive: true });
    await writeFile(join(root, 'tests/zelte.yaml'), String(json?.['yaml']));
    const tested = await millrace(['test', '--project', root]);
    expect(tested.code, tested.stdout + tested.stderr + String(json?.['yaml'])).to.equal(0);
    expect(tested.stdout).to.include('1 passed');
    await rm(join(root, 'tests/zelte.yaml'));
    const unknown = await post(`${shop.url}/api/v1/rankings/keep`, {
      ...{ test: 'x', pipeline: 'shp', request: body },
    });
    expect(unknown.json?.['code']).to.equal('unknown_pipeline');
  });
});
