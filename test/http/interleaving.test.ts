import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { draftCoins } from '../../runtime/request/experiments/draft-coins.js';
import { startService, type RunningService } from '../../runtime/serve/app/serve.js';
import { readSettings } from '../../runtime/project/config/project/read-settings.js';
import { millrace } from '../support/command-line.js';
import { startCollector } from '../support/otlp-collector.js';
import { repositoryPath } from '../support/repository.js';
import { writeProject } from '../support/project.js';
import { referenceCoins, referenceDraft } from '../support/reference-draft.js';

const FILES = {
  'millrace.yaml': 'project: shop\nstore: embedded\n',
  'pipelines/search.yaml': `
pipeline: search
rank: product
request: { candidates: { price: float, text: float }, user: optional(user) }
params: { w_price: 0 }
components:
  - { use: score, with: { value: product.text + w_price * product.price } }
page: { size: 4, max_size: 100 }
log: { unit: user }
`,
};

/** The example of the page, for all users. */
const PAGE = readFileSync(repositoryPath('docs', 'experiments/live.md'), 'utf8');
const EXAMPLE = /^```yaml file=experiments\/prices.yaml\n([\s\S]*?)^```$/m.exec(PAGE)?.[1] ?? '';
const USERS = 30;
const CANDIDATES = Array.from({ length: 9 }, (_, at) => ({
  product_id: `p${at}`,
  price: (at * 5) % 9,
  text: 10 - at,
}));

interface Answer {
  readonly order: readonly string[];
  readonly header: string;
}

describe('an interleaving over HTTP', () => {
  let root: string;
  let service: RunningService;
  let now = Date.UTC(2026, 11, 1);
  let dataDir: string;

  before(async () => {
    expect(EXAMPLE).to.contain('share: 20%');
    const all = EXAMPLE.replace('share: 20%', 'share: 100%');
    root = await writeProject({ ...FILES, 'experiments/prices.yaml': all });
    dataDir = join(root, 'data');
    const settings = await readSettings({}, { project: root, store: 'embedded', dataDir, port: '0' });
    service = await startService(settings, {
      logger: pino({ level: 'silent' }),
      clock: () => now,
    });
  });
  after(async () => {
    await service.close();
    await rm(root, { recursive: true, force: true });
  });

  async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    expect(answer.status, path).to.equal(200);
    return answer;
  }

  async function rank(body: object, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await post('/api/v1/search', { candidates: CANDIDATES, ...body }, headers);
    const { ranked_candidates: ranked } = (await answer.json()) as {
      ranked_candidates: { candidate_id: string }[];
    };
    return {
      order: ranked.map(({ candidate_id: id }) => id),
      header: answer.headers.get('millrace-experiment') ?? '',
    };
  }

  it('answers pages of one draft, whose header names the team of each candidate', async () => {
    const whole = { user_page_size: CANDIDATES.length };
    const arm = async (name: string): Promise<readonly string[]> =>
      (await rank(whole, { 'Millrace-Experiment': `prices=${name}` })).order;
    const [control, cheap] = [await arm('control'), await arm('cheap')];
    expect(control).not.to.deep.equal(cheap);
    const expected = referenceDraft(control, cheap, referenceCoins('prices', 'r-http'));
    const marks = expected.teams.map((team) => (team === undefined ? '-' : String(team))).join('');
    for (const [page, from, to] of [
      [0, 0, 4],
      [1, 4, 8],
      [2, 8, 9],
    ] as const) {
      const { order, header } = await rank({
        request_id: 'r-http',
        user: { user_id: 'u1' },
        user_page: page,
      });
      expect(order).to.deep.equal(expected.order.slice(from, to));
      expect(header).to.equal(`prices=interleaved;teams="${marks.slice(from, to)}"`);
    }
  });

  it('counts the candidates by team', async () => {
    const { header } = await rank({ request_id: 'r-counted', user: { user_id: 'u2' } });
    expect(header).to.contain('interleaved');
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    const count = (text: string): number =>
      Number(new RegExp(`^${text.replace(/[{}]/g, '\\$&')} (\\d+)$`, 'm').exec(metrics)?.[1]);
    expect(
      count(
        'millrace_experiment_requests_total{experiment="prices",arm="interleaved",excluded="no",outcome="answered"}',
      ),
    ).to.be.above(0);
    for (const arm of ['control', 'cheap'])
      expect(count(`millrace_experiment_candidates_total{experiment="prices",arm="${arm}"}`)).to.be.above(0);
  });

  it('has the coins that docs/experiments/live.md says', () => {
    expect(PAGE.replaceAll('\n', ' ')).to.contain(
      'begins with `366a`, so of the rounds 0 to 3, control is first in 2 and 3',
    );
    const coin = draftCoins('prices', 'r1');
    const first = Array.from({ length: 16 }, (_, round) => (coin(round) ? '1' : '0')).join('');
    expect(Number.parseInt(first, 2).toString(16)).to.equal('366a');
    expect([coin(0), coin(1), coin(2), coin(3)]).to.deep.equal([false, false, true, true]);
  });

  it('lists the experiment with its mode', async () => {
    const listed = await fetch(`${service.url}/api/v1/experiments`);
    expect(await listed.text()).to.contain('"interleave"');
  });

  it('is decided by the sign test over the users of its own log', async () => {
    // Each user clicks the best candidate of the arm `cheap` that gives credit.
    for (let user = 0; user < USERS; user++) {
      const body = { request_id: `click-${user}`, user: { user_id: `buyer-${user}` } };
      const { order, header } = await rank(body);
      const at = (/teams="(.*)"/.exec(header)?.[1] ?? '').indexOf('1');
      expect(at).to.be.at.least(0);
      await post('/api/v1/feedback', {
        ...body,
        events: [{ type: 'click', product: { product_id: order[at] } }],
      });
    }
    now += 2 * 3_600_000; // all users are mature
    await rank({ request_id: 'nobody' });
    await service.close();
    const flags = ['--project', root, '--data-dir', dataDir, '--at', new Date(now).toISOString()];
    const { code, stdout, stderr } = await millrace(['experiments', 'report', 'prices', ...flags, '--json']);
    expect([code, stderr]).to.deep.equal([0, '']);
    const { preferences, excluded } = JSON.parse(stdout) as {
      preferences: { prefersArm: number; prefersControl: number; p: number; verdict: string };
      excluded: Record<string, number>;
    };
    expect(preferences).to.include({ prefersArm: USERS, prefersControl: 0, verdict: 'better' });
    expect(preferences.p).to.be.below(1e-6);
    expect(excluded).to.deep.equal({ no_unit: 1, override: 2 });
    const told = await millrace(['experiments', 'report', 'prices', ...flags]);
    expect(told.stdout).to.contain('More users prefer cheap.').and.contain('not the size of the effect');
    expect(told.stdout.split('\n').filter((line) => line.length > 80)).to.deep.equal([]);
  });
});

describe('traces of an interleaving', () => {
  it('have a span for each step of the arm that differs, with its name', async () => {
    const collector = await startCollector();
    const all = EXAMPLE.replace('share: 20%', 'share: 100%');
    const root = await writeProject({ ...FILES, 'experiments/prices.yaml': all });
    try {
      const settings = await readSettings(
        {
          MILLRACE_TRACES: 'on',
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
          OTEL_BSP_SCHEDULE_DELAY: '600000',
        },
        { project: root, store: 'embedded', dataDir: join(root, 'data'), port: '0' },
      );
      const service = await startService(settings, { logger: pino({ level: 'silent' }) });
      try {
        const answer = await fetch(`${service.url}/api/v1/search`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ candidates: CANDIDATES, user: { user_id: 'u1' } }),
        });
        expect(answer.headers.get('millrace-experiment')).to.contain('interleaved');
      } finally {
        await service.close();
      }
      const steps = collector.spans.filter(({ name }) => name === 'step score');
      const stage = collector.spans.find(({ name }) => name === 'components');
      expect(steps.map(({ attributes }) => attributes['millrace.arm'])).to.deep.equal([
        undefined,
        'prices=cheap',
      ]);
      expect(steps.map(({ attributes }) => attributes['millrace.step.outcome'])).to.deep.equal([
        'ran',
        'ran',
      ]);
      for (const { parentId } of steps) expect(parentId).to.equal(stage?.spanId);
    } finally {
      await collector.close();
      await rm(root, { recursive: true, force: true });
    }
  });
});
