import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { MillraceError } from '../../runtime/ground/api/errors.js';
import { millrace } from '../support/command-line.js';
import { fileLedger } from '../support/ledger-records.js';
import { idsOf, pluginFiles, startProject, writeProject, type TestProject } from '../support/project.js';

/** A retriever that returns what the request says, after a while. */
const GIVEN = pluginFiles(
  'given',
  'retriever',
  `return {
    outputs: { score: 'number' },
    async retrieve(input) {
      const column = input.column(options.from);
      const text = isKnown(column.status[0]) ? column.values[0] : '';
      if (text === 'fail') throw new Error('it is broken');
      if (text === 'wrong') return {};
      if (text === 'late') await new Promise(() => {});
      const parts = text.split(' ').filter((part) => part !== '' && part !== 'partial');
      const ids = parts.map((part) => part.split('=')[0]);
      const score = Float64Array.from(parts, (part) => Number(part.split('=')[1] ?? NaN));
      return { ids, columns: { score }, ...(text.startsWith('partial') && { problem: 'it is cut' }) };
    },
  };`,
  { from: { description: 'The answer.', millrace: 'text' } },
);

const project = (more = '', components = ''): Record<string, string> => ({
  ...GIVEN,
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { likes: string }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, user: optional(user), one: optional(string), two: optional(string) }
limits: { candidates: 5, time: 2s }
retrieve:
  - { use: given, as: a, with: { from: request.one } }
  - { use: given, as: b, with: { from: request.two }, when: known(request.two), timeout: 50ms }
${more}components:
${components === '' ? '  - { use: score, with: { value: 0 } }' : components}
`,
});

/** Runs `millrace test` on the project. */
const TEST = `test: found
pipeline: search
given:
  outputs:
    "a:score": { p1: 5, p2: 1 }
    "b:score": { p2: 9, p3: 4 }
    "b:place": { p3: 1, p2: 2 }
request: { two: anything }
expect: { order: [p1, p2, p3], scores: { p1: 5, p2: 1, p3: 0 } }
`;

describe('retrieve', () => {
  let running: TestProject | undefined;
  afterEach(async () => {
    await running?.close();
    running = undefined;
  });
  const start = async (more?: string, components?: string): Promise<TestProject> =>
    (running = await startProject(project(more, components)));

  it('ranks what retrievers find, in the order of reciprocal ranks, each id once', async () => {
    const { run } = await start();
    const { ranked, report } = await run({ one: 'p1 p2 p3 p2', two: 'p3 p4' });
    expect(idsOf(ranked)).to.deep.equal(['p3', 'p1', 'p2', 'p4']);
    expect(report.degraded).to.deep.equal([]);
    expect(report.retrieval).to.deep.include({ found: 4, cut: { count: 0, ids: [] } });
    expect(report.retrieval?.retrievers.map(({ as, outcome, found }) => [as, outcome, found])).to.deep.equal([
      ['a', 'found', 3],
      ['b', 'found', 2],
    ]);
  });

  it('has the outputs of each retriever as columns, absent where it did not find the candidate', async () => {
    const { rank } = await start(
      '',
      '  - { use: score, with: { value: "10 * coalesce(b:score, 0) + coalesce(a:place, -1)" } }',
    );
    const ranked = await rank({ one: 'p1=1 p2=2', two: 'p2=3 p3' });
    expect(ranked.map((one) => [one.candidate_id, one.ranked_score])).to.deep.equal([
      ['p2', 32],
      ['p1', 1],
      ['p3', -1],
    ]);
  });

  it('asks no retriever if the request sends candidates, and keeps an empty list', async () => {
    const { run, rank } = await start();
    expect(await rank({ candidates: [], one: 'p1' })).to.deep.equal([]);
    const { ranked, report } = await run({ candidates: [{ product_id: 'p9' }], one: 'p1' });
    expect(idsOf(ranked)).to.deep.equal(['p9']);
    expect(report.retrieval).to.equal(undefined);
    expect(idsOf(await rank({ candidates: null, one: 'p1' }))).to.deep.equal(['p1']);
  });

  for (const fuse of ['rrf', 'first', '"coalesce(a:place, 9) + coalesce(b:place, 9)"'])
    it(`has each candidate on one page, in the same order on pages of all sizes: ${fuse}`, async () => {
      const { rank } = await start(`merge: { fuse: ${fuse} }\n`);
      const asked = { one: 'p3 p1 p4', two: 'p4 p5 p1 p2' };
      const whole = idsOf(await rank({ ...asked, user_page: 0, user_page_size: 10 }));
      expect([...whole].sort()).to.deep.equal(['p1', 'p2', 'p3', 'p4', 'p5']);
      for (const size of [1, 2, 3]) {
        const pages: string[] = [];
        for (let page = 0; page * size < whole.length; page++)
          pages.push(...idsOf(await rank({ ...asked, user_page: page, user_page_size: size })));
        expect(pages).to.deep.equal(whole);
      }
    });

  it('takes the first retriever first, and cuts at `most`', async () => {
    const { run } = await start('merge: { fuse: first, most: 3 }\n');
    const { ranked, report } = await run({ one: 'p1 p2', two: 'p4 p1 p3' });
    expect(idsOf(ranked)).to.deep.equal(['p1', 'p2', 'p4']);
    expect(report.retrieval?.cut).to.deep.equal({ count: 1, ids: ['p3'] });
  });

  it('orders by an expression on outputs and on the request', async () => {
    const { rank } = await start(
      'merge: { fuse: "if(request.one == request.two, 0, coalesce(a:score, 0) + 2 * b:score)" }\n',
    );
    expect(idsOf(await rank({ one: 'p1=9 p2=1', two: 'p2=1 p3=4' }))).to.deep.equal(['p3', 'p2', 'p1']);
    expect(idsOf(await rank({ one: 'p1=9 p2=1', two: 'p1=9 p2=1' }))).to.deep.equal(['p1', 'p2']);
  });

  it('reads options of the index, as for a ranking', async () => {
    const files = project();
    const text = files['pipelines/search.yaml']?.replace('from: request.one', 'from: user.likes') ?? '';
    running = await startProject({ ...files, 'pipelines/search.yaml': text });
    await running.upload('user', { user_id: 'u1', likes: 'p7 p8' });
    expect(idsOf(await running.rank({ user: { user_id: 'u1' } }))).to.deep.equal(['p7', 'p8']);
    expect(await running.rank({ user: { user_id: 'u2' } })).to.deep.equal([]);
    const [reads] = [running.app.pipelines[0]?.describe().retrieval?.reads];
    expect(reads?.map(({ what, wants }) => [what, wants])).to.deep.equal([['attributes of user', ['likes']]]);
    // The next request finds the user in the resident table.
    const misses = (): number =>
      running?.app.resident.states().find(({ type }) => type === 'user')?.misses ?? -1;
    const before = misses();
    expect(idsOf(await running.rank({ user: { user_id: 'u1' } }))).to.deep.equal(['p7', 'p8']);
    expect([before, misses()]).to.deep.equal([2, 2]);
    await running.upload('user', { user_id: 'u1', likes: 'p9' });
    expect(idsOf(await running.rank({ user: { user_id: 'u1' } }))).to.deep.equal(['p9']);
  });

  it('is part of the plan that is described', async () => {
    const { app } = await start('merge: { most: 4 }\n');
    const described = app.pipelines[0]?.describe();
    expect(described?.components.map(({ use }) => use)).to.deep.equal(['score']);
    expect(
      described?.retrieval?.components.map(({ as, when, produces }) => [as, when, produces]),
    ).to.deep.equal([
      ['a', undefined, ['a:score', 'a:place']],
      ['b', 'known(request.two)', ['b:score', 'b:place']],
    ]);
    const { stdout } = await millrace(['plan', 'search', '--project', running?.root ?? '']);
    expect(stdout).to.contain('Retrievers').and.to.contain('given as b (retriever)');
  });

  for (const [what, two, outcome] of [
    ['fails', 'fail', 'failed'],
    ['is late', 'late', 'late'],
    ['returns nonsense', 'wrong', 'failed'],
  ] as const)
    it(`leaves the candidates of the others if one ${what}`, async () => {
      const { run } = await start('', '  - { use: score, with: { value: "coalesce(b:place, 7)" } }');
      const { ranked, report } = await run({ one: 'p1 p2', two });
      expect(idsOf(ranked)).to.deep.equal(['p1', 'p2']);
      expect(report.degraded).to.deep.include({ cause: 'retrieve', value: 'b' });
      expect(report.retrieval?.retrievers[1]).to.include({ as: 'b', outcome, found: 0 });
    });

  it('says that an answer is not whole, and leaves out ids that are not valid', async () => {
    const { run } = await start();
    const partial = await run({ one: 'partial p1' });
    expect(partial.report.degraded).to.deep.equal([{ cause: 'retrieve', value: 'a' }]);
    expect(partial.report.retrieval?.retrievers[0]).to.include({ outcome: 'partial', reason: 'it is cut' });
    const wrong = await run({ one: `${'x'.repeat(1025)} p2` });
    expect(idsOf(wrong.ranked)).to.deep.equal(['p2']);
    expect(wrong.report.retrieval?.retrievers[0]?.reason).to.equal('1 of its ids are not valid');
  });

  it('refuses a request if no retriever answers', async () => {
    const { run } = await start();
    for (const body of [{ one: 'fail', two: 'fail' }, { one: 'fail' }])
      expect(
        await run(body).then(
          () => 'ok',
          (error: unknown) => (error as MillraceError).code,
        ),
      ).to.equal('retrieval_failed');
  });

  it('is logged with what each retriever found, and replayed without them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-ledger-'));
    const files = project(
      '',
      `  - { use: score, with: { value: "coalesce(b:score, 0) - coalesce(a:place, 9)" } }
log: { candidates: all, features: all }`,
    );
    const root = await writeProject(files);
    const ledger = await fileLedger(folder);
    running = await startProject(files, { ledger });
    await running.run({ one: 'p1 p2', two: 'p2=3 p3' });
    await running.run({ one: 'p1', two: 'fail' });
    await running.run({ candidates: [{ product_id: 'p1' }] });
    await nextTurn();
    await ledger.flush();
    await ledger.close(1000);
    const { code, stdout } = await millrace(['ledger', 'replay', folder, '--project', root, '--json']);
    expect(JSON.parse(stdout)).to.deep.equal([
      { pipeline: 'search', replayed: 3, equal: 3, candidates: 5, different: [], refused: [] },
    ]);
    expect(code, stdout).to.equal(0);
    await rm(folder, { recursive: true });
    await rm(root, { recursive: true });
  });

  it('says why a candidate is where it is, or not there', async () => {
    const steps = `  - { use: score, with: { value: "coalesce(b:score, 0)" } }
  - { use: filter, as: bad, with: { keep: "coalesce(b:score, 0) >= 0" } }`;
    const { app } = await start('merge: { fuse: first, most: 3 }\n', steps);
    const fateOf = async (why: string, body: object): Promise<unknown> =>
      (await app.pipelines[0]?.explain(body, { requestId: 'r1', why }))?.why;
    const body = { one: 'p1 p2', two: 'p3=-1 p2=5 p4 p5', user_page_size: 1 };
    const places = (found: object, merged?: number): object => ({
      found: { places: found, ...(merged === undefined ? {} : { merged }) },
    });
    expect(await fateOf('p2', body)).to.deep.equal({
      ...{ candidate_id: 'p2', fate: 'ranked', place: 1, ...places({ a: 2, b: 2 }, 2) },
    });
    const second = { candidate_id: 'p1', fate: 'ranked', place: 2, ...places({ a: 1 }, 1) };
    expect(await fateOf('p1', body)).to.deep.equal(second);
    expect(await fateOf('p3', body)).to.deep.include({ fate: 'removed', step: 2, as: 'bad' });
    expect(await fateOf('p4', body)).to.deep.equal({
      ...{ candidate_id: 'p4', fate: 'cut', ...places({ b: 3 }, 4) },
    });
    expect(await fateOf('p9', body)).to.deep.equal({ candidate_id: 'p9', fate: 'not_found', ...places({}) });
    const sent = { candidates: [{ product_id: 'p1' }] };
    expect(await fateOf('p9', sent)).to.deep.equal({ candidate_id: 'p9', fate: 'not_sent' });
    expect(await fateOf('p1', sent)).to.deep.equal({ candidate_id: 'p1', fate: 'ranked', place: 1 });
    const root = await writeProject(project('merge: { fuse: first, most: 3 }\n', steps));
    const asked = [join(root, 'body.json'), '--why', 'p4'];
    await writeFile(join(root, 'body.json'), JSON.stringify(body));
    const { stdout, stderr } = await millrace([
      'rank',
      'search',
      ...asked,
      '--project',
      root,
      '--store',
      'embedded',
    ]);
    expect(stdout, stderr).to.contain(
      'Why p4: it was found, and is beyond `most` of `merge` (found by b at place 3;',
    );
    await rm(root, { recursive: true });
  });

  it('is stubbed in tests of rankings', async () => {
    const score = '  - { use: score, with: { value: "coalesce(a:score, 0)" } }';
    const root = await writeProject({ ...project('', score), 'tests/found.yaml': TEST });
    const { code, stdout, stderr } = await millrace(['test', '--project', root]);
    expect(code, stdout + stderr).to.equal(0);
    await rm(root, { recursive: true });
  });

  describe('with an experiment', () => {
    const PARAMS = 'params: { w: 1 }\nmerge: { fuse: "coalesce(a:score, 0)" }\n';
    const SCORE = '  - { use: score, with: { value: "w * coalesce(a:score, 0)" } }';
    const experiment = (mode: string): string => `experiment: other
pipeline: search
mode: ${mode}
unit: user
arms: { control: { weight: 1 }, turned: { weight: 1, params: { w: -1 } } }
`;

    it('refuses one that changes a param of the merged list', async () => {
      const files = project(PARAMS.replace('coalesce(a:score, 0)', 'w * coalesce(a:score, 0)'), SCORE);
      const started = startProject({ ...files, 'experiments/other.yaml': experiment('split') });
      const error = await started.then(
        () => undefined,
        (one: unknown) => one as Error,
      );
      expect(error?.message).to.contain('an experiment changes the param `w`');
    });

    for (const mode of ['split', 'interleave'])
      it(`ranks the same candidates in both arms, by ${mode}`, async () => {
        running = await startProject(
          { ...project(PARAMS, SCORE), 'experiments/other.yaml': experiment(mode) },
          { experiments: true },
        );
        const firsts = new Set<string>();
        for (let n = 0; n < 40; n++) {
          const ranked = await running.rank({ user: { user_id: `u${n}` }, one: 'p1=1 p2=2 p3=3' });
          expect([...idsOf(ranked)].sort()).to.deep.equal(['p1', 'p2', 'p3']);
          firsts.add(ranked[0]?.candidate_id ?? '');
        }
        expect([...firsts].sort()).to.deep.equal(['p1', 'p3']);
      });

    it('gives the outputs of retrievers to the second arm, if that is a pipeline', async () => {
      const files = project(PARAMS, SCORE);
      const other = (files['pipelines/search.yaml'] ?? '')
        .replace('pipeline: search', 'pipeline: search_v2')
        .replace('"w *', '"-1 *');
      running = await startProject(
        {
          ...files,
          'pipelines/search_v2.yaml': other,
          'experiments/other.yaml': experiment('interleave').replace(
            'params: { w: -1 }',
            'pipeline: search_v2',
          ),
        },
        { experiments: true },
      );
      const firsts = new Set<string>();
      const pipeline = running.app.pipelines.find(({ name }) => name === 'search');
      for (let n = 0; n < 40; n++) {
        const body = { user: { user_id: `u${n}` }, one: 'p1=1 p2=2 p3=3' };
        const run = await pipeline?.run(body, { requestId: `r${n}` });
        expect(run?.report.degraded).to.deep.equal([]);
        firsts.add(run?.answer.ranked_candidates?.[0]?.candidate_id ?? '');
      }
      expect([...firsts].sort()).to.deep.equal(['p1', 'p3']);
    });
  });
});
