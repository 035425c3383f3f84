import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Millrace, Problem } from '../src/index.js';
import { BIN, startService, type Service } from './service.js';

describe('the client, against the service,', () => {
  let service: Service;
  let client: Millrace;
  before(async () => {
    service = await startService();
    client = new Millrace(service.url);
  });
  after(() => service.stop());

  it('uploads, reads, lists and deletes entities', async () => {
    const stored = await client.uploadEntities('brand', [
      { brand_id: 'b1', name: 'Fleet' },
      { brand_id: 7, name: 'Hill', extra: true },
    ]);
    assert.deepEqual(stored, { entity_type: 'brand', entity_ids: ['b1', '7'] });
    const updated = await client.updateEntities('brand', [
      { brand_id: '7', extra: null },
      { brand_id: 'b9' },
    ]);
    assert.deepEqual(updated, {
      ...{ entity_type: 'brand', entity_ids: ['7'] },
      ...{ updated: 1, created: 0, unknown_ids: ['b9'] },
    });
    const made = await client.updateEntities('brand', [{ code: 'b4' }], { entityKey: 'code', create: true });
    assert.equal(made.created, 1);
    await client.deleteEntities('brand', ['b4']);
    await client.updateEntities('brand', [{ brand_id: 7, extra: true }]);
    await client.uploadEntities('brand', [{ code: 'b3' }], { entityKey: 'code' });
    assert.deepEqual(await client.getEntities('brand', ['7', 'b9']), {
      7: { brand_id: 7, name: 'Hill', extra: true },
      b9: null,
    });
    const ids = new Set<unknown>();
    for await (const one of client.scanEntities('brand', { limit: 1 })) ids.add(one['brand_id']);
    assert.deepEqual([...ids].map(String).sort(), ['7', 'b1', 'b3']);
    await client.deleteEntities('brand', ['b3']);
    assert.deepEqual(await client.getEntities('brand', ['b3']), { b3: null });
  });

  it('adds to the numbers of stored rows', async () => {
    const rows = [{ product_id: 'added', ctr: 0.25 }];
    for (let i = 0; i < 3; i++)
      assert.equal((await client.pushFeatures('stats', rows, { increment: true })).stored, 1);
    const online = await client.getOnlineFeatures(['stats:ctr'], { product_id: ['added'] });
    assert.deepEqual(online.results[1]?.values, [0.75]);
    assert.equal((await client.deleteFeatures('stats', [{ product_id: 'added' }])).deleted, 1);
  });

  it('pushes, reads, lists and deletes rows of features', async () => {
    const rows = [
      { product_id: 'f1', ctr: 0.1 },
      { product_id: 'f2', ctr: 0.2 },
    ];
    assert.deepEqual(await client.pushFeatures('stats', rows), {
      view: 'stats',
      stored: 2,
      older: 0,
      expired: 0,
    });
    const online = await client.getOnlineFeatures(['stats:ctr'], { product_id: ['f1', 'f9'] });
    assert.deepEqual(online.results[1]?.values, [0.1, null]);
    assert.deepEqual(online.results[1].statuses, ['PRESENT', 'NOT_FOUND']);
    const full = await client.getOnlineFeatures(
      ['stats:ctr'],
      { product_id: ['f1'] },
      { fullFeatureNames: true },
    );
    assert.deepEqual(full.metadata.feature_names, ['product_id', 'stats__ctr']);
    const listed: unknown[] = [];
    for await (const row of client.scanFeatures('stats', { limit: 1 })) listed.push(row['product_id']);
    assert.deepEqual(listed.sort(), ['f1', 'f2']);
    assert.deepEqual(await client.deleteFeatures('stats', [{ product_id: 'f1' }]), {
      view: 'stats',
      deleted: 1,
      older: 0,
    });
  });

  it('ranks by the route of the pipeline, with the run id and the request id', async () => {
    const candidates = [1, 2, 3, 4, 5].map((n) => ({ product_id: `r${n}`, price: n }));
    const request = { candidates, request_id: 'r-1', include_events: true };
    const ranking = await client.rank('search', request, { runId: 'run-1' });
    assert.equal(ranking.requestId, 'r-1');
    assert.deepEqual(ranking.ids, ['r5', 'r4']);
    assert.deepEqual(ranking.degraded, []);
    const [event] = ranking.answer.events as { run_id: string }[];
    assert.equal(event?.run_id, 'run-1');
    const told = await client.explain('search', { candidates });
    assert.equal((told['candidates'] as { sent: number }).sent, 5);
    const { page } = await client.explain('search', { candidates }, { contributions: true });
    assert.equal((page as { contributions: { of: string }[] }[])[0]?.contributions[0]?.of, 'score');
    const { lifts } = await client.explain('search', { candidates }, { lift: { id: 'r1', to: 2 } });
    assert.equal((lifts as { candidate_id: string }).candidate_id, 'r1');
  });

  it('makes a request id, and ranks page after page under it', async () => {
    const candidates = [1, 2, 3, 4, 5].map((n) => ({ product_id: `r${n}`, price: n }));
    const pages: (readonly string[])[] = [];
    const requests = new Set<string>();
    for await (const { ids, requestId } of client.rankPages('search', { candidates })) {
      pages.push(ids);
      requests.add(requestId);
    }
    assert.deepEqual(pages, [['r5', 'r4'], ['r3', 'r2'], ['r1']]);
    assert.equal(requests.size, 1);
    assert.match([...requests][0] ?? '', /^[0-9a-f]{32}$/);
  });

  it('scores one entity', async () => {
    const { answer, degraded } = await client.score('risk', { order: { order_id: 'o1', amount: 30 } });
    assert.deepEqual(answer, { order_id: 'o1', score: 30, large: true, amount: 30 });
    assert.deepEqual(degraded, []);
    const unscored = await client.score('risk', { order: { order_id: 'o2' } });
    assert.deepEqual(unscored.degraded, ['unscored=1/1']);
    assert.ok('steps' in (await client.explain('risk', { order: { order_id: 'o1' } })));
  });

  it('sends feedback that counts once, and forgets', async () => {
    const events = [{ type: 'click', product: { product_id: 'p1' } }];
    const sent = await client.sendFeedback('r-1', events, { user: { user_id: 'u1' } });
    assert.deepEqual(sent, {
      request_id: 'r-1',
      stored: 1,
      duplicates: 0,
      too_old: 0,
      unused: 0,
      uncounted: 0,
    });
    const again = await client.sendFeedback('r-1', events, { user: { user_id: 'u1' } });
    assert.equal(again.duplicates, 1);
    const answers = await client.forget('user', ['u1']);
    assert.equal(answers.at(-1)?.cursor, null);
  });

  it('refuses feedback that would count twice if it was sent again', async () => {
    const events = [{ type: 'click', product: { product_id: 'p1' } }];
    await assert.rejects(client.sendFeedback(null, events, { user: { user_id: 'u1' } }), { status: 422 });
  });

  it('reads health, metrics and the reference', async () => {
    assert.equal(await client.healthz(), true);
    assert.equal((await client.readyz()).ready, true);
    assert.match(await client.metrics(), /^millrace_/m);
    assert.equal((await client.openapi())['openapi'], '3.1.0');
    assert.match(await client.redoc(), /<html/i);
  });

  it('throws problems with code and violations', async () => {
    const wrong = client.rank('search', { candidates: [{ id: 'p1' }, { product_id: 'p2', price: 'much' }] });
    const problem = await wrong.catch((error: unknown) => error);
    assert.ok(problem instanceof Problem);
    assert.deepEqual([problem.status, problem.code, problem.violationCount], [422, 'invalid_body', 2]);
    assert.equal(problem.violations[0]?.pointer, '/candidates/0/product_id');
    assert.match(problem.requestId ?? '', /^[0-9a-f]{32}$/);
    await assert.rejects(client.rank('nothing', { candidates: [] }), { code: 'unknown_route' });
    await assert.rejects(client.getEntities('nothing', ['p1']), { code: 'unknown_entity_type' });
  });
});

it('the client sends its key, and invites people with it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-keys-'));
  const env = { MILLRACE_KEYS: join(folder, 'keys.json') };
  const made = spawnSync(
    process.execPath,
    [BIN, 'keys', 'create', 'test', '--scope', 'rank,admin,explain,judge'],
    {
      env: { PATH: process.env['PATH'], ...env },
      cwd: folder,
      encoding: 'utf8',
    },
  );
  assert.equal(made.status, 0, made.stderr);
  const service = await startService(env);
  try {
    const candidates = [{ product_id: 'p1', price: 1 }];
    const client = new Millrace(service.url, { apiKey: made.stdout.trim() });
    assert.deepEqual((await client.rank('search', { candidates })).ids, ['p1']);
    await assert.rejects(client.metrics(), { status: 403, code: 'scope_missing' });
    const expires = new Date(Date.now() + 3_600_000);
    const { invitation, ...invited } = await client.createInvitation('anna', 'merchandiser', { expires });
    assert.match(invitation, /^mr_/);
    assert.equal(invited.expires, expires.toISOString());
    assert.deepEqual(await client.listInvitations(), [invited]);
    assert.equal((await client.revokeInvitation('anna')).state, 'revoked');
    await assert.rejects(client.revokeInvitation('anna'), { status: 404, code: 'unknown_invitation' });
    // Comparisons run in the process of the workbench.
    const elsewhere = { status: 409, code: 'comparisons_elsewhere' };
    await assert.rejects(client.listComparisons(), elsewhere);
    await assert.rejects(client.startComparison({ pipeline: 'search', judgments: 'test.csv' }), elsewhere);
    await assert.rejects(client.getComparison('none'), elsewhere);
    await assert.rejects(client.stopComparison('none'), elsewhere);
    await assert.rejects(client.getLoggedRanking('none'), elsewhere);
    await assert.rejects(client.keepRanking('t', 'search', {}), elsewhere);
    const round = await client.startJudging({
      ...{ round: 'lamps', arms: [{ pipeline: 'search' }], queries: ['lamp'] },
    });
    assert.deepEqual(await client.listJudging(), [round]);
    const { candidates: pooled } = await client.getJudgedQuery('lamps', 1);
    const grades = Object.fromEntries(pooled.map(({ candidate_id: id }) => [id, 3]));
    assert.deepEqual((await client.gradeCandidates('lamps', 1, grades, { skipped: false })).done, [1]);
    assert.deepEqual(await client.addJudgedCandidate('lamps', 'lamp', 'p9'), { round: 'lamps', number: 1 });
    assert.equal((await client.exportJudging('lamps')).rows, pooled.length);
    assert.deepEqual(await client.removeJudging('lamps'), { removed: 'lamps' });
    assert.equal(Array.isArray(await client.listInstances()), true);
    await assert.rejects(new Millrace(service.url).rank('search', { candidates }), { status: 401 });
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
