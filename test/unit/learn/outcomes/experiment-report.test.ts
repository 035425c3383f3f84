import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { join } from 'node:path';
import { expect } from 'chai';
import { SourceFile } from '../../../../runtime/project/config/yaml/source.js';
import { Random } from '../../../../runtime/ground/core/random.js';
import { decision, leftOutTexts } from '../../../../runtime/learn/report/experiment-words.js';
import { reportJson } from '../../../../runtime/learn/report/experiment-json.js';
import { reportTree } from '../../../../runtime/learn/report/experiment-tree.js';
import { reportPage } from '../../../../runtime/learn/report/page.js';
import { reportText } from '../../../../runtime/cli/report/report.js';
import {
  experimentReport,
  type ExperimentReport,
} from '../../../../runtime/learn/outcomes/experiment-report.js';
import type { ReportPlan, UnitFiles } from '../../../../runtime/learn/outcomes/report-plan.js';
import { GUARDS } from '../../../../runtime/project/config/model/experiments.js';
import { DAY, HOUR, MINUTE, START } from '../../../support/made-ledger.js';
import { MadeExperiment } from '../../../support/made-experiment.js';

const AT = { file: new SourceFile('experiments/popularity.yaml', ''), start: 0, end: 0 };
const METRIC = {
  event: 'order',
  value: { kind: 'sum', of: 'revenue' },
  over: undefined,
  within: DAY,
  before: undefined,
  at: AT,
} as const;
const PLAN: ReportPlan = {
  experiment: 'popularity',
  mode: 'split',
  unit: 'user',
  unitField: 'user',
  arms: [
    { name: 'control', weight: 50 },
    { name: 'popular', weight: 50 },
  ],
  metric: METRIC,
  secondary: [],
  guards: [],
  from: -Infinity,
  until: Infinity,
};

describe('the report of an experiment', () => {
  const root = mkdtempSync(join(tmpdir(), 'millrace-outcomes-'));
  let made = 0;

  after(() => rmSync(root, { recursive: true }));

  async function report(
    ledger: MadeExperiment,
    plan: Partial<ReportPlan> = {},
    { at = START + 10 * DAY, ...files }: { readonly at?: number } & Partial<UnitFiles> = {},
  ): Promise<ExperimentReport> {
    made += 1;
    return await experimentReport(
      { ...PLAN, ...plan },
      {
        ledger: ledger.write(join(root, `ledger-${made}`)),
        work: join(root, `work-${made}`),
        at,
        files: { stdin: Readable.from([]), shown: (unit) => unit, ...files },
        progress: () => undefined,
      },
      0.05,
    );
  }

  /** A request of a user in an arm. */
  function exposed(
    ledger: MadeExperiment,
    user: string,
    arm: string,
    time = START,
    more: object = {},
  ): string {
    const request = `${user}-${time}`;
    ledger.request({ request, time, experiment: 'popularity', arm, unit: user, ...more });
    return request;
  }

  it('sums what mature units did within the window from their first request', async () => {
    const ledger = new MadeExperiment();
    const first = exposed(ledger, 'u1', 'control');
    const second = exposed(ledger, 'u1', 'control', START + 20 * HOUR);
    exposed(ledger, 'u2', 'popular');
    exposed(ledger, 'young', 'popular', START + 9.5 * DAY);
    ledger
      .act({ event: 'order', subject: 'p1', time: START + HOUR, request: first, revenue: 10 })
      // The window counts from the first request.
      .act({ event: 'order', subject: 'p1', time: START + 25 * HOUR, request: second, revenue: 100 })
      .act({ event: 'order', subject: 'p1', time: START + 23 * HOUR, request: second, revenue: 5 })
      // Repeated feedback counts once, with a request and without.
      .act({ event: 'order', subject: 'p1', time: START + 2 * HOUR, request: first, revenue: 10 })
      .act({ event: 'order', subject: 'p3', time: START + HOUR, user: 'u2', revenue: 7, id: 'e1' })
      .act({ event: 'order', subject: 'p3', time: START + HOUR, user: 'u2', revenue: 7, id: 'e1' })
      .act({ event: 'order', subject: 'p3', time: START + HOUR, user: 'u2', revenue: 1, id: 'e2' })
      .act({ event: 'order', subject: 'p3', time: START - MINUTE, user: 'u2', revenue: 50, id: 'e3' })
      .act({ event: 'order', subject: 'p3', time: START + HOUR, user: 'stranger', revenue: 9 })
      .act({ event: 'order', subject: 'p3', time: START + HOUR, request: 'unknown', revenue: 9 })
      .act({ event: 'order', subject: 'p3', time: START + HOUR, revenue: 9 })
      .act({ event: 'click', subject: 'p3', time: START + HOUR, request: first });
    const { arms, outcomes, scanned } = await report(ledger);
    expect(arms.map(({ arm, units, mature, value }) => [arm, units, mature, value])).to.deep.equal([
      ['control', 1, 1, 10],
      ['popular', 2, 1, 8],
    ]);
    // The order of 23 h repeats event and product of another request, so it counts; that of 25 h is the same one again.
    expect(outcomes.feedback).to.deep.equal({
      byRequest: 2,
      byUnit: 3,
      byFile: 0,
      duplicates: 3,
      outside: 2,
      outsideWindow: 2,
    });
    expect(scanned.orphans).to.equal(1);
  });

  it('counts an event by its id, with a request and without', async () => {
    const ledger = new MadeExperiment();
    const request = exposed(ledger, 'u1', 'control');
    const order = { event: 'order', subject: 'p1', time: START + HOUR, request, revenue: 10 };
    ledger
      .act({ ...order, id: 'e1' })
      .act({ ...order, id: 'e2' })
      .act({ ...order, id: 'e1', time: START + 2 * HOUR })
      .act({ ...order, id: 'e2', request: undefined, user: 'u1' })
      .act({ ...order, time: START + 3 * HOUR });
    const { arms, outcomes } = await report(ledger);
    expect(arms.map(({ value }) => value)).to.deep.equal([30, NaN]);
    expect(outcomes.feedback).to.include({ byRequest: 2, byUnit: 1, duplicates: 2 });
  });

  it('counts what it leaves out, by reason', async () => {
    const ledger = new MadeExperiment();
    exposed(ledger, 'u1', 'control');
    exposed(ledger, 'both', 'control');
    exposed(ledger, 'both', 'popular', START + HOUR);
    exposed(ledger, '', 'control', START, { excluded: 'no_unit' });
    exposed(ledger, 'u9', 'popular', START, { excluded: 'override' });
    ledger.request({ request: 'other', time: START });
    const found = await report(ledger);
    expect(found.arms.map(({ units }) => units)).to.deep.equal([1, 0]);
    expect(leftOutTexts(found)).to.deep.equal([
      '1 requests without a user',
      '1 requests whose arm a header chose',
      '1 users that were in several arms',
    ]);
  });

  /** Users with a click probability in each arm. */
  function clicking(
    users: number,
    chance: readonly [number, number],
    more: (user: number, arm: number) => object = () => ({}),
    armOf: (user: number) => number = (user) => user % 2,
    days = 5,
  ): MadeExperiment {
    const random = new Random(5);
    const ledger = new MadeExperiment();
    for (let user = 0; user < users; user++) {
      const arm = armOf(user);
      const time = START + Math.floor((user / users) * 5 * DAY);
      if (time > START + days * DAY) break;
      const request = exposed(ledger, `u${user}`, arm === 1 ? 'popular' : 'control', time, more(user, arm));
      if (random.chance(chance[arm] ?? 0))
        ledger.act({ event: 'click', subject: 'p1', time: time + MINUTE, request });
    }
    return ledger;
  }
  const CLICKS = { metric: { ...METRIC, event: 'click', value: { kind: 'any' } } } as const;

  it('decides by the always-valid interval while the experiment runs, and by the fixed one after its end', async () => {
    const ledger = clicking(2000, [0.3, 0.34]);
    const running = await report(ledger, CLICKS);
    const ended = await report(ledger, { ...CLICKS, until: START + 5 * DAY });
    const effect = running.arms[1]?.effect;
    expect(effect?.fixed.lower).to.be.above(0);
    expect(effect?.always.lower).to.be.below(0);
    expect([running.hasEnded, running.arms[1]?.verdict]).to.deep.equal([false, 'undecided']);
    expect([ended.hasEnded, ended.arms[1]?.verdict]).to.deep.equal([true, 'better']);
    expect(decision(ended)).to.deep.equal(['Take popular: it is better than control.']);
    expect(decision(running)[0]).to.match(
      /^Not decided: no effect of popular was found yet\. It takes \d+ more days/,
    );
    expect(running.days.map(({ time }) => (time - START) / DAY)).to.deep.equal([2, 3, 4, 5, 6]);
    expect(running.days.at(-1)?.effect.difference).to.be.closeTo(effect?.difference ?? NaN, 1e-12);
  });

  it('takes no arm for better because of a few units that are all alike', async () => {
    const until = START + 5 * DAY;
    const found = await report(clicking(10, [0, 1]), { ...CLICKS, until });
    expect(found.arms.map(({ value }) => value)).to.deep.equal([0, 1]);
    expect(found.arms[1]?.verdict).to.equal('undecided');
    const text = reportText(reportTree(found).parts, 80);
    expect(text).to.contain('one look at the end   unknown (decides)').and.not.contain('[unknown');
    expect(text).to.contain('power: it is not known which effect would be found by now');
    const many = await report(clicking(60, [0, 1]), { ...CLICKS, until });
    expect(many.arms[1]?.verdict).to.equal('better');
  });

  it('says that an arm had no unit', async () => {
    const ledger = new MadeExperiment();
    exposed(ledger, 'u1', 'control');
    const running = await report(ledger, CLICKS);
    expect(decision(running)).to.deep.equal(['Not decided: popular had no user yet.']);
    const ended = await report(ledger, { ...CLICKS, until: START + DAY });
    expect(decision(ended)).to.deep.equal([
      'Keep control: the experiment has ended, and popular had no user.',
    ]);
    expect(reportPage(reportTree(ended))).to.not.match(/NaN|undefined/);
  });

  it('does not say that there is no effect if the metric is not known', async () => {
    const over = { metric: { ...CLICKS.metric, over: 'impression' } } as const;
    const found = await report(clicking(20, [1, 1]), { ...over, until: START + 5 * DAY });
    expect(decision(found)).to.deep.equal([
      'Keep control: the metric of control is not known, since it had no impression.',
    ]);
  });

  it('stays readable with a huge value', async () => {
    const ledger = new MadeExperiment();
    for (let user = 0; user < 20; user++) {
      const request = exposed(ledger, `u${user}`, user % 2 === 0 ? 'control' : 'popular');
      const revenue = user === 1 ? 1e30 : user;
      ledger.act({ event: 'order', subject: 'p1', time: START + MINUTE, request, revenue });
    }
    const guards = [{ metric: 'latency_p99', margin: 0.1, at: AT }] as const;
    const text = reportText(reportTree(await report(ledger, { guards })).parts, 80).replace(/\s+/g, ' ');
    expect(text).to.contain('It takes more than 1,000 days to find').and.not.contain('unknown)');
    expect(text.match(/\d{20}/)).to.equal(null);
  });

  it('hides the effects if the units do not fit the weights', async () => {
    const found = await report(
      clicking(2000, [0.3, 0.4], undefined, (user) => (user % 9 < 5 ? 0 : 1)),
      CLICKS,
    );
    expect(found.sampleRatio).to.be.below(0.001);
    expect(found.arms.map(({ effect }) => effect)).to.deep.equal([undefined, undefined]);
    expect(decision(found)[0]).to.match(/^The effects are hidden: the numbers of users do not fit/);
    const text = reportText(reportTree(found).parts, 80);
    expect(text).to.contain('hidden').and.not.contain('95 %');
    const json = JSON.stringify(reportJson(found));
    expect(json)
      .to.contain('"effects_hidden":true')
      .and.not.contain('"difference"')
      .and.not.contain('"value":0');
    expect(reportPage(reportTree(found))).not.to.contain('Difference');
  });

  const SPENDING = { metric: { ...METRIC, before: 7 * DAY } } as const;

  /** What each user spends before and during the experiment; the users take turns in the arms. */
  const SHAPES: Readonly<Record<string, readonly (readonly [past: number, now: number])[]>> = {
    'one unit': [[1, 1]],
    'two units': [
      [1, 2],
      [3, 5],
    ],
    'values that are all equal': Array.from({ length: 60 }, () => [5, 5] as const),
    'values of 0': Array.from({ length: 60 }, () => [0, 0] as const),
    'a past without variation': Array.from({ length: 60 }, (_, user) => [7, user] as const),
    'a past that tells all': Array.from({ length: 60 }, (_, user) => [user, user] as const),
    'a metric without variation': Array.from({ length: 60 }, (_, user) => [user, 5] as const),
    'squares that are infinite': [1, 2, 3, 4].map((one) => [one * 1e200, one * 2e200] as const),
    'squares whose product is infinite': Array.from(
      { length: 60 },
      (_, i) => [i * 1e80, i * i * 1e80] as const,
    ),
  };
  for (const [shape, users] of Object.entries(SHAPES))
    for (const status of ['ok', 'component_failed'])
      it(`prints no NaN and no Infinity: ${shape}, requests that are ${status}`, async () => {
        const ledger = new MadeExperiment().act({ event: 'order', subject: 'p', time: START - 9 * DAY });
        for (const [user, [past, now]] of users.entries()) {
          const arm = user % 2 === 0 ? 'control' : 'popular';
          const request = exposed(ledger, `u${user}`, arm, START, { status });
          const order = { event: 'order', subject: 'p1' };
          ledger.act({ ...order, time: START - DAY, user: `u${user}`, revenue: past });
          ledger.act({ ...order, time: START + HOUR, request, revenue: now });
        }
        const guards = GUARDS.map((guard) => ({ metric: guard, margin: 0.1, at: AT }));
        const secondary = [METRIC, { ...METRIC, over: 'click', before: DAY }];
        const found = await report(ledger, { ...SPENDING, guards, secondary });
        const tree = reportTree(found);
        for (const text of [reportText(tree.parts, 80), reportPage(tree), JSON.stringify(reportJson(found))])
          expect(text).to.not.match(/NaN|Infinity|undefined|∞/);
      });

  it('adjusts values whose squares are large', async () => {
    const ledger = new MadeExperiment().act({ event: 'order', subject: 'p', time: START - 9 * DAY });
    for (let user = 0; user < 60; user++) {
      const request = exposed(ledger, `u${user}`, user % 2 === 0 ? 'control' : 'popular');
      const order = { event: 'order', subject: 'p1', revenue: user * 1e80 };
      ledger.act({ ...order, time: START - DAY, user: `u${user}` });
      ledger.act({ ...order, time: START + HOUR, request });
    }
    const found = await report(ledger, SPENDING);
    expect(found.adjustment?.correlation).to.be.closeTo(1, 1e-12);
    expect(found.arms[1]?.effect?.fixed.upper).to.be.within(1e81, 1e82);
  });

  it('keeps control if the arm breaks a guard', async () => {
    const slow = clicking(2000, [0.3, 0.45], (user, arm) => ({
      ms: 5 + (user % 100) / 50 + arm * 4,
      degraded: user % 20 < 2,
    }));
    const found = await report(slow, {
      ...CLICKS,
      until: START + 5 * DAY,
      guards: [
        { metric: 'latency_p50', margin: 0.1, at: AT },
        { metric: 'failed', margin: 0.1, at: AT },
        { metric: 'degraded', margin: 1, at: AT },
      ],
    });
    expect(found.arms[1]?.guards.map(({ guard, state }) => [guard, state])).to.deep.equal([
      ['latency_p50', 'broken'],
      ['failed', 'holds'],
      ['degraded', 'holds'],
    ]);
    expect(decision(found)).to.deep.equal([
      'Keep control: popular is better in the metric, but it breaks latency_p50.',
    ]);
  });

  it('counts the units of failed requests of a split, and names their number by arm', async () => {
    const ledger = new MadeExperiment();
    exposed(ledger, 'u1', 'control');
    exposed(ledger, 'u2', 'popular', START, { status: 'deadline_exceeded' });
    exposed(ledger, 'u3', 'popular');
    exposed(ledger, 'u3', 'popular', START + HOUR, { status: 'component_failed' });
    exposed(ledger, 'both', 'popular', START, { status: 'component_failed' });
    exposed(ledger, 'both', 'control', START + HOUR);
    const found = await report(ledger);
    expect(found.arms.map(({ units, requests, failed }) => [units, requests, failed])).to.deep.equal([
      [1, 1, 0],
      [2, 3, 2],
    ]);
    expect(reportText(reportTree(found).parts, 80)).to.contain(
      '\nfailed     control 0 of 1 requests, popular 2 of 3 requests\n',
    );
    expect(reportPage(reportTree(found))).to.contain('popular 2 of 3 requests');
    expect(JSON.stringify(reportJson(found))).to.contain('"requests":3,"failed_requests":2');
  });

  it('leaves failed requests of an interleaving out, and counts them', async () => {
    const ledger = new MadeExperiment();
    const metric = { ...METRIC, event: 'click', value: { kind: 'count' } } as const;
    const mixed = { shown: [{ id: 'p1', team: 'popular' }] };
    const broken = { ...mixed, status: 'component_failed' };
    const failed = exposed(ledger, 'u1', 'interleaved', START, broken);
    // The window of a unit begins with its first page.
    exposed(ledger, 'u2', 'interleaved', START, broken);
    const request = exposed(ledger, 'u2', 'interleaved', START + 2 * HOUR, mixed);
    exposed(ledger, 'u3', 'interleaved', START, mixed);
    ledger
      .act({ event: 'click', subject: 'p1', time: START + 25 * HOUR, request })
      .act({ event: 'click', subject: 'p1', time: START + HOUR, request: failed });
    const found = await report(ledger, { mode: 'interleave', metric });
    expect(found.preferences).to.include({
      ...{ units: 2, prefersArm: 1, prefersControl: 0, neither: 1, failedRequests: 2 },
    });
    expect(reportText(reportTree(found).parts, 80)).to.contain(
      '\nfailed     2 requests, which showed no page and do not count\n',
    );
    expect(reportPage(reportTree(found))).to.contain('2 requests, which showed no page and do not count');
  });

  it('tells the direction of an interleaving by the preferences of users', async () => {
    const ledger = new MadeExperiment();
    for (let user = 0; user < 40; user++) {
      const shown = [{ id: 'same' }, { id: 'a', team: 'control' }, { id: 'b', team: 'popular' }];
      const request = exposed(ledger, `u${user}`, '*', START, { shown });
      const subject = user < 20 ? 'b' : user < 25 ? 'a' : 'same';
      ledger.act({ event: 'click', subject, time: START + MINUTE, request });
    }
    const found = await report(ledger, { ...CLICKS, mode: 'interleave' });
    const { prefersArm, prefersControl, neither, p } = found.preferences ?? {};
    expect([prefersArm, prefersControl, neither]).to.deep.equal([20, 5, 15]);
    expect(p).to.be.closeTo(0.004077, 1e-6); // binomial test, as scipy.stats.binomtest computes it
    expect(decision(found)[0]).to.match(/^More users prefer popular\./);
  });

  it('does not say that users prefer neither arm while no user is mature', async () => {
    const ledger = new MadeExperiment();
    const shown = [
      { id: 'a', team: 'control' },
      { id: 'b', team: 'popular' },
    ];
    exposed(ledger, 'u1', '*', START, { shown });
    const found = await report(ledger, { ...CLICKS, mode: 'interleave' }, { at: START + HOUR });
    expect(decision(found)).to.deep.equal(['Not decided: no user is mature yet, since 1 d have not passed.']);
  });

  it('says of users that they are mature by the clock, also if nothing was recorded since', async () => {
    const ledger = new MadeExperiment();
    for (let user = 0; user < 500; user++)
      exposed(ledger, `u${user}`, user % 2 === 0 ? 'control' : 'popular');
    const plan = { until: START + DAY };
    const found = await report(ledger, plan, { at: START + 5 * DAY });
    expect(found.arms.map(({ mature }) => mature)).to.deep.equal([250, 250]);
    expect(found.hasEnded).to.equal(true);
    expect(found.warnings.join('\n')).to.contain(
      '500 users are mature by the clock, but their windows end after the last known event, 2026-11-01T00:00Z',
    );
    expect(reportText(reportTree(found).parts, 80)).to.contain(
      '\nledger     the last record is of 2026-11-01T00:00Z\n',
    );
  });

  it('reports as at an earlier time, without what was recorded later', async () => {
    const ledger = clicking(600, [0.3, 0.4]);
    const early = await report(ledger, CLICKS, { at: START + 2 * DAY });
    const shorter = await report(clicking(600, [0.3, 0.4], undefined, undefined, 2), CLICKS, {
      at: START + 2 * DAY,
    });
    expect(early.arms.map(({ units }) => units)).to.deep.equal([121, 120]);
    expect(reportJson(early)).to.deep.equal(reportJson(shorter));
  });

  /** Users who spend about what they spent before, and a bit more in `popular`. */
  function spending(users: number): { readonly ledger: MadeExperiment; readonly before: number[] } {
    const random = new Random(6);
    const ledger = new MadeExperiment().act({ event: 'order', subject: 'p', time: START - 7 * DAY });
    const before: number[] = [];
    for (let user = 0; user < users; user++) {
      const past = random.between(0, 100);
      before.push(past);
      // Half of the users are known by their request, which is in no experiment.
      const earlier = START - 2 * DAY;
      const request = user % 4 < 2 ? `earlier-${user}` : undefined;
      if (request !== undefined) ledger.request({ request, time: earlier, user: `u${user}` });
      const who = request === undefined ? { user: `u${user}` } : { request };
      ledger.act({ event: 'order', subject: 'p1', time: earlier + HOUR, ...who, revenue: past });
      ledger.act({
        event: 'order',
        subject: 'p1',
        time: START - 7 * DAY - HOUR,
        user: `u${user}`,
        revenue: 1e4,
      });
      const own = exposed(ledger, `u${user}`, user % 2 === 0 ? 'control' : 'popular');
      const revenue = past + random.between(0, 30) + (user % 2) * 4;
      ledger.act({ event: 'order', subject: 'p2', time: START + HOUR, request: own, revenue });
      // Orders with other requests are no outcome, with and without the adjustment.
      if (request !== undefined)
        ledger.act({ event: 'order', subject: 'p3', time: START + HOUR, request, revenue: 1e5 });
    }
    return { ledger, before };
  }

  it('prints the raw effect and that without what is due to the past, which decides', async () => {
    const { ledger } = spending(400);
    const plan = { until: START + DAY };
    const time = { at: START + DAY + HOUR };
    const raw = await report(ledger, plan, time);
    const found = await report(ledger, { ...SPENDING, ...plan }, time);
    const [, arm] = found.arms;
    expect(arm?.effect).to.deep.equal(raw.arms[1]?.effect);
    expect([raw.arms[1]?.verdict, arm?.verdict]).to.deep.equal(['undecided', 'better']);
    const { correlation = NaN } = found.adjustment ?? {};
    expect(correlation).to.be.within(0.9, 0.99);
    const ratio = (arm?.adjusted?.effect?.standardError ?? NaN) / (arm?.effect?.standardError ?? NaN);
    expect(ratio ** 2).to.be.closeTo(1 - correlation ** 2, 0.02 * (1 - correlation ** 2));
    expect(found.days.at(-1)?.effect.difference).to.equal(arm?.adjusted?.effect?.difference);
    expect(found.outcomes.past).to.deep.equal({ known: 400, unknown: 0, short: 0 });
    expect(found.outcomes.feedback).to.include({ byRequest: 400, outsideWindow: 400 });
    expect(found.warnings).to.deep.equal([]);
    const text = reportText(reportTree(found).parts, 80).replace(/\s+/g, ' ');
    expect(text).to.match(/adjusted by the past: .* less variance, correlation 0\.9\d .*\(decides\)/);
    expect(text.match(/\(decides\)/g)).to.have.length(1);
    const json = JSON.stringify(reportJson(found));
    expect(json).to.contain('"adjusted":{"value"').and.contain('"past":{"known":400');
    expect(reportPage(reportTree(found))).to.contain('adjusted');
  });

  it('takes the past from a file instead', async () => {
    const { ledger, before } = spending(400);
    const covariates = join(root, 'covariates.csv');
    const rows = before.slice(0, 390).map((value, user) => `u${user},${value}`);
    writeFileSync(covariates, `unit,value\n${rows.join('\n')}\nstranger,1\n`);
    const found = await report(ledger, SPENDING, { covariates, at: START + DAY + HOUR });
    expect(found.adjustment?.correlation).to.be.within(0.8, 0.99);
    expect(found.outcomes.past).to.deep.equal({ known: 390, unknown: 10, short: 0 });
    expect(found.warnings).to.deep.equal([`10 users are not in ${covariates}; their past counts as 0`]);
  });

  it('says that nothing is known of the past, or not all', async () => {
    const ledger = clicking(60, [0.3, 0.5]);
    const metric = { ...CLICKS.metric, before: DAY };
    const found = await report(ledger, { metric });
    expect(found.arms[1]?.adjusted?.effect).to.deep.equal(found.arms[1]?.effect);
    expect(reportText(reportTree(found).parts, 80).replace(/\s+/g, ' ')).to.contain(
      'the past is unknown or does not vary with the metric, so nothing changes',
    );
    expect(found.warnings.join('\n')).to.match(/what 12 users did is not known for all of the 1 d before/);
  });

  it('adjusts a ratio by the ratio before', async () => {
    const random = new Random(8);
    const ledger = new MadeExperiment().act({ event: 'view', subject: 'p', time: START - 9 * DAY });
    for (let user = 0; user < 300; user++) {
      const chance = random.next();
      for (const [time, shown] of [
        [START - DAY, 20],
        [START, 10],
      ] as const) {
        const request =
          time === START ? exposed(ledger, `u${user}`, user % 2 === 0 ? 'control' : 'popular') : undefined;
        const who = request === undefined ? { user: `u${user}` } : { request };
        for (let at = 0; at < shown; at++) {
          ledger.act({ event: 'impression', subject: `p${at}`, time: time + MINUTE, ...who });
          if (random.chance(chance))
            ledger.act({ event: 'click', subject: `p${at}`, time: time + MINUTE, ...who });
        }
      }
    }
    const metric = {
      ...METRIC,
      event: 'click',
      value: { kind: 'count' },
      over: 'impression',
      before: 7 * DAY,
    } as const;
    const found = await report(ledger, { metric });
    expect(found.adjustment?.correlation).to.be.within(0.8, 0.95);
    expect(found.arms.map(({ value }) => value > 0.4 && value < 0.6)).to.deep.equal([true, true]);
  });

  it('takes what units did from a file, instead of the feedback of its kinds', async () => {
    const ledger = new MadeExperiment();
    exposed(ledger, 'u1', 'control');
    const request = exposed(ledger, 'u2', 'popular');
    exposed(ledger, 'u3', 'popular');
    ledger
      .act({ event: 'order', subject: 'p1', time: START + HOUR, request, revenue: 100 })
      .act({ event: 'click', subject: 'p1', time: START + HOUR, request });
    const outcomes = join(root, 'orders.jsonl');
    const row = (unit: string | null, hours: number, value: number | null): object => ({
      ...{ unit, time: new Date(START + hours * HOUR).toISOString(), value },
    });
    // Two orders of the same time are two orders.
    const rows = [row('u2', 1, 20), row('u2', 1, 20), row('u3', 2, 2), row('u3', 3, null)];
    const none = [row('u3', 25, 1000), row('u1', -1, 500), row('stranger', 1, 9), row(null, 1, 9)];
    writeFileSync(outcomes, [...rows, ...none].map((one) => JSON.stringify(one)).join('\n'));
    const secondary = [{ ...METRIC, event: 'click', value: { kind: 'count' } }] as const;
    const found = await report(ledger, { secondary, metric: { ...METRIC, before: DAY } }, { outcomes });
    expect(found.arms.map(({ value }) => value)).to.deep.equal([0, 21]);
    expect(found.arms[1]?.secondary[0]).to.include({ control: 0, arm: 0.5 });
    expect(found.outcomes.feedback).to.deep.equal({
      ...{ byRequest: 1, byUnit: 0, byFile: 6, duplicates: 0, outside: 1, outsideWindow: 1 },
    });
    expect(found.scanned.orphans).to.equal(1);
    expect(found.outcomes.past).to.include({ known: 1, unknown: 2 });
  });

  it('warns about rows of a file that are later than the report', async () => {
    const ledger = new MadeExperiment();
    exposed(ledger, 'u1', 'control');
    const outcomes = join(root, 'later.csv');
    writeFileSync(outcomes, 'unit,time,value\nu1,2036-11-01,1\n');
    const { warnings } = await report(ledger, {}, { outcomes });
    expect(warnings).to.deep.equal([
      `1 rows of ${outcomes} are later than the report (2026-11-11T00:00Z), so they do not count`,
    ]);
  });

  it('names the row of a file that cannot be read, and the column that is missing', async () => {
    const ledger = new MadeExperiment();
    exposed(ledger, 'u1', 'control');
    const problemOf = async (text: string): Promise<string> => {
      const outcomes = join(root, 'wrong.csv');
      writeFileSync(outcomes, text);
      const error: unknown = await report(ledger, {}, { outcomes }).catch((caught: unknown) => caught);
      const { message, help } = error as Error & { readonly help?: string };
      return `${message}; ${help ?? ''}`.replaceAll(`${root}/`, '');
    };
    expect(await problemOf('unti,time,value\nu1,2026-11-01,1\n')).to.equal(
      'wrong.csv: there is no column unit; found unti, time, value; did you mean unti?',
    );
    expect(await problemOf('unit,time,amount\nu1,2026-11-01,1\n')).to.equal(
      'wrong.csv: there is no column value; found unit, time, amount; expected the columns unit, time, value',
    );
    expect(await problemOf('unit,time,value\nu1,yesterday,1\n')).to.match(
      /^wrong\.csv: line 2: `time`: expected epoch milliseconds/,
    );
    expect(await problemOf('unit,time,value\nu1,2026-11-01,x\n')).to.match(
      /^wrong\.csv: line 2: `value`: expected a number, found "x"/,
    );
    expect(await problemOf('unit,time,value\nu1,2026-11-01\n')).to.match(
      /^wrong\.csv: line 2: expected 3 cells/,
    );
    expect(await problemOf('unit;time;value\nu1;2026-11-01;1\n')).to.match(
      /^wrong\.csv: line 1: the header is one column/,
    );
    expect(await problemOf('unit,time,value\n')).to.match(/^wrong\.csv has no row; /);
    expect(await problemOf('unit,time,value,event\nu1,2026-11-01,1,ordr\n')).to.match(
      /^wrong\.csv has no row of order; it has ordr; the column `event` names the kind/,
    );
  });

  it('corrects the p values of secondary metrics for their number, and does not let them decide', async () => {
    const ledger = clicking(2000, [0.3, 0.33]);
    const click = CLICKS.metric;
    const until = START + 5 * DAY;
    const view = { ...click, event: 'view' };
    const plan = { metric: view, until };
    const alone = await report(ledger, { ...plan, secondary: [click] });
    const two = await report(ledger, { ...plan, secondary: [click, { ...click, within: 9 * DAY }, view] });
    const [found] = alone.arms[1]?.secondary ?? [];
    expect([found?.verdict, found?.p]).to.deep.equal(['better', found?.effect.fixedP]);
    const [first, longer, none] = two.arms[1]?.secondary ?? [];
    expect(first?.p).to.be.closeTo(3 * (found?.p ?? NaN), 1e-12);
    expect([first?.verdict, none?.verdict]).to.deep.equal(['undecided', 'undecided']);
    // Its window has not passed, so its p value is that of any time.
    expect([longer?.hasEnded, longer?.mature]).to.deep.equal([false, 200]);
    expect(decision(two)).to.deep.equal([
      'Keep control: the experiment has ended, and no effect of popular was found.',
    ]);
    const text = reportText(reportTree(two).parts, 80);
    expect(text).to.contain('Secondary metrics, which do not decide; p corrected by Holm');
    expect(text.split('\n').filter((line) => line.length > 80)).to.deep.equal([]);
  });

  it('does not take an arm whose guard is unclear at the end', async () => {
    const guards = [{ metric: 'degraded', margin: 0.05, at: AT }] as const;
    const ledger = clicking(2000, [0.3, 0.45], (user) => ({ degraded: user % 20 < 2 }));
    const ended = await report(ledger, { ...CLICKS, guards, until: START + 5 * DAY });
    expect(decision(ended)).to.deep.equal([
      'Keep control: popular is better in the metric, but it is not shown that it keeps degraded.',
    ]);
    const running = await report(ledger, { ...CLICKS, guards });
    expect(decision(running)[0]).to.match(
      /^Not decided: .* but it is not shown yet that it keeps degraded\.$/,
    );
  });

  it('warns that the rule was changed after the start', async () => {
    const logged = {
      primary: { event: 'click', value: { kind: 'any' }, within: DAY },
      secondary: [],
      guard: [],
    };
    const ledger = new MadeExperiment({ popularity: { metrics: logged } });
    exposed(ledger, 'u1', 'control');
    expect((await report(ledger, CLICKS)).warnings).to.not.match(/metrics in/);
    const guards = [{ metric: 'failed', margin: 0.1, at: AT }] as const;
    expect((await report(ledger, { ...CLICKS, guards })).warnings.join('\n')).to.contain(
      'the metrics in experiments/popularity.yaml are not those of the requests until 2026-11-01T00:00Z',
    );
  });

  it('counts requests that named no arm of an experiment that another platform assigns', async () => {
    const ledger = new MadeExperiment();
    exposed(ledger, 'u1', 'control');
    exposed(ledger, 'u2', 'control', START, { excluded: 'unknown_variant' });
    exposed(ledger, 'u3', 'control', START, { excluded: 'no_variant' });
    const found = await report(ledger, { assign: 'request.variant' });
    expect(leftOutTexts(found)).to.deep.equal([
      '1 requests without request.variant',
      '1 requests whose request.variant is no arm',
    ]);
  });

  it('fits a terminal of 80 columns, and is one page that loads nothing', async () => {
    const found = await report(clicking(600, [0.3, 0.4]), {
      ...CLICKS,
      guards: [{ metric: 'latency_p99', margin: 0.2, at: AT }],
    });
    const text = reportText(reportTree(found).parts, 80);
    expect(text.split('\n').filter((line) => line.length > 80)).to.deep.equal([]);
    expect(text).to.contain('decision');
    const page = reportPage(reportTree(found));
    expect(page).to.contain("default-src 'none'").and.contain('<svg');
    expect(page).to.not.match(/<script|src=|href=|NaN|undefined/);
  });

  it('says that the ledger has no request of the experiment', async () => {
    const ledger = new MadeExperiment();
    exposed(ledger, 'u1', 'control');
    const error = await report(ledger, { experiment: 'popularty' }).catch((caught: unknown) => caught);
    expect((error as Error).message).to.match(
      /has no request of the experiment popularty; it has popularity$/,
    );
  });
});
