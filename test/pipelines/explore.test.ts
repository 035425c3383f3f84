import { expect } from 'chai';
import { Replay } from '../../runtime/request/pipeline/log/replay.js';
import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { offPolicyEstimate } from '../../runtime/learn/off-policy/estimate.js';
import { cellsOf, memoryLedger } from '../support/memory-ledger.js';
import { idsOf, rankedIn, startProject, type TestProject } from '../support/project.js';

const SALT = 'a secret that nobody guesses';
const NOW = Date.parse('2026-03-01T12:00:00Z');
const IDS = Array.from({ length: 12 }, (_, n) => `p${n + 1}`);

const files = (explore: string, more = ''): Record<string, string> => ({
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { old: bool }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { text: float }, explore: optional(bool) }
components:
  - { use: score, with: { value: product.text } }
  - ${explore}
  - { use: pin, with: { positions: { 2: p9 } } }
${more}page: { size: 4 }
limits: { time: 60s }
log: { candidates: all, features: all }
`,
});

const SWAP = '{ use: explore, with: { method: swap, probability: 0.3, top: 6 } }';
const LUCE = '{ use: explore, as: draw, with: { method: plackett_luce, temperature: 2, top: 6 } }';

const body = (more: object = {}): object => ({
  candidates: IDS.map((product_id, at) => ({ product_id, text: 12 - at })),
  ...more,
});

describe('a pipeline that explores', () => {
  let project: TestProject;
  const { ledger, records } = memoryLedger();

  const start = (explore: string, more = ''): Promise<TestProject> =>
    startProject(files(explore, more), {
      now: () => NOW,
      ledger,
      experiments: true,
      env: { MILLRACE_EXPLORE_SALT: SALT },
    });
  const pages = async (request_id: string): Promise<string[]> => {
    const ids: string[] = [];
    for (const user_page of [0, 1, 2])
      ids.push(...idsOf(await project.rank(body({ request_id, user_page }))));
    return ids;
  };

  describe('with plackett_luce', () => {
    before(async () => {
      project = await start(LUCE);
    });
    after(() => project.close());

    it('continues the order of a request on its other pages, and draws anew for another request', async () => {
      const orders = new Set<string>();
      for (let n = 0; n < 20; n++) {
        const ids = await pages(`r${n}`);
        const whole = idsOf(await project.rank(body({ request_id: `r${n}`, user_page_size: 12 })));
        expect(ids).to.deep.equal(whole);
        expect([...ids].sort()).to.deep.equal([...IDS].sort());
        expect(ids[1]).to.equal('p9');
        expect(ids.slice(6)).to.deep.equal(['p6', 'p7', 'p8', 'p10', 'p11', 'p12']);
        orders.add(ids.join(' '));
      }
      expect(orders.size).to.be.above(10);
    });

    it('draws by the id of the service if the client sends none', async () => {
      const [pipeline] = project.app.pipelines;
      const first = await pipeline?.run(body(), { requestId: 'made-by-the-service' });
      const again = await project.rank(body({ request_id: 'made-by-the-service' }));
      expect(first && idsOf(rankedIn(first.answer))).to.deep.equal(idsOf(again));
    });

    it('logs what was drawn, explains the same, and replays it', async () => {
      const [pipeline] = project.app.pipelines;
      const request = body({ request_id: 'explained', user_page_size: 12 });
      const ids = idsOf(await project.rank(request));
      const explained = await pipeline?.explain(request, { requestId: '' });
      const record = (await records()).at(-1);
      if (record === undefined || explained === undefined) throw new Error('the request was not logged');
      expect(explained.page.map(({ candidate_id: id }) => id)).to.deep.equal(ids);
      const [before, place] = [cellsOf(record, 'place_before'), cellsOf(record, 'place')];
      const propensities = cellsOf(record, 'propensity');
      const [marginals, errors] = [cellsOf(record, 'marginal'), cellsOf(record, 'marginal_error')];
      expect(record.schema.meta['explore']).to.deep.equal({
        step: 'draw',
        top: 6,
        method: 'plackett_luce',
        temperature: 2,
      });
      for (const [row, id] of IDS.entries()) {
        const { drawn, changes } = explained.page[Number(place[row]) - 1] ?? {};
        expect(before[row], id).to.equal(id === 'p9' ? 2 : row === 0 ? 1 : row < 8 ? row + 2 : row + 1);
        const isDrawn = row < 5;
        expect(propensities[row] !== undefined, id).to.equal(isDrawn);
        expect(errors[row]).to.equal(isDrawn ? 0 : undefined);
        expect(drawn).to.deep.equal(
          isDrawn
            ? { place_before: before[row], propensity: propensities[row], marginal: marginals[row] }
            : undefined,
        );
        const moved = changes?.some((change) => 'moved_to' in change && change.as === 'draw') === true;
        expect(moved).to.equal(isDrawn && before[row] !== place[row]);
      }
      const compiled = await compileProject(project.root, loadSettings({}, { project: project.root }));
      const [served] = compiled.pipelines;
      if (served === undefined) throw new Error('the project has a pipeline');
      const replayed = await new Replay([served]).run(record);
      expect(replayed).to.deep.equal({ kind: 'replayed', candidates: 12, differences: [] });
      await compiled.close();
    });
  });

  describe('with swaps', () => {
    before(async () => {
      project = await start(SWAP, '  - { use: bury, with: { where: product.text > 11 } }\n');
    });
    after(() => project.close());

    it('logs pages from which IPS finds the value of the order without exploration', async () => {
      const first = (await records()).length;
      for (let n = 0; n < 800; n++) await project.rank(body({ request_id: `s${n}` }));
      const logged = (await records()).slice(first).map((record, n) => {
        const [place, before] = [cellsOf(record, 'place'), cellsOf(record, 'place_before')];
        const [propensity, marginal] = [cellsOf(record, 'propensity'), cellsOf(record, 'marginal')];
        const onPage = cellsOf(record, 'on_page');
        const places = IDS.flatMap((_, row) =>
          onPage[row] === true
            ? [
                {
                  place: Number(place[row]),
                  target: before[row] === place[row] ? 1 : 0,
                  propensity: Number(propensity[row] ?? 1),
                  marginal: Number(marginal[row] ?? 1),
                  // Users want p2, and see the first place best.
                  reward: row === 1 ? 10 / Number(place[row]) : 0,
                },
              ]
            : [],
        );
        return { unit: String(n), above: 1, places: places.sort((a, b) => a.place - b.place) };
      });
      expect(logged).to.have.length(800);
      const { value, interval, logged: mean } = offPolicyEstimate(logged, 'ips', 'item_position', 1);
      // p1 is buried.
      const truth = 10;
      expect(Math.abs(value - truth)).to.be.below(2 * (interval.upper - value));
      expect(Math.abs(mean - truth)).to.be.above(2 * (interval.upper - value));
    });
  });

  it('ranks without the draw if the step does not run', async () => {
    project = await start(
      `{ use: explore, when: known(request.explore), with: { method: swap, probability: 0.9, top: 6 } }`,
    );
    try {
      for (let n = 0; n < 5; n++) {
        const ids = idsOf(await project.rank(body({ request_id: `w${n}` })));
        expect(ids).to.deep.equal(['p1', 'p9', 'p2', 'p3']);
      }
      const record = (await records()).at(-1);
      expect(record && cellsOf(record, 'propensity')).to.deep.equal(IDS.map(() => undefined));
    } finally {
      await project.close();
    }
  });

  it('ranks without the draw in commands, which need no secret', async () => {
    project = await startProject(files(LUCE));
    try {
      for (let n = 0; n < 5; n++) {
        const ids = idsOf(await project.rank(body({ request_id: `c${n}` })));
        expect(ids).to.deep.equal(['p1', 'p9', 'p2', 'p3']);
      }
    } finally {
      await project.close();
    }
  });

  it('is not served without the secret, and says what to set', async () => {
    const error: unknown = await startProject(files(SWAP), { experiments: true }).then(
      async (started) => {
        await started.close();
        return undefined;
      },
      (thrown: unknown) => thrown,
    );
    expect(error).to.have.property('code', 'invalid_setting');
    expect(String(error)).to.include(
      'step 2 (explore) of the pipeline search draws places, but MILLRACE_EXPLORE_SALT is not set',
    );
  });
});
