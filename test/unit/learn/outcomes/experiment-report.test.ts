import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SourceFile } from '../../../../runtime/project/config/yaml/source.js';
import { Random } from '../../../../runtime/ground/core/random.js';
import { decision, leftOutTexts } from '../../../../runtime/cli/experiments/report-words.js';
import { reportJson } from '../../../../runtime/cli/experiments/report-json.js';
import { reportPage } from '../../../../runtime/cli/experiments/report-page.js';
import { reportText } from '../../../../runtime/cli/experiments/report-text.js';
import {
  experimentReport,
  type ExperimentReport,
} from '../../../../runtime/learn/outcomes/experiment-report.js';
import type { ReportPlan } from '../../../../runtime/learn/outcomes/report-plan.js';
import { DAY, HOUR, MINUTE, START } from '../../../support/made-ledger.js';
import { MadeExperiment } from '../../../support/made-experiment.js';

const AT = { file: new SourceFile('experiments/popularity.yaml', ''), start: 0, end: 0 };
const METRIC = {
  event: 'order',
  value: { kind: 'sum', of: 'revenue' },
  over: undefined,
  within: DAY,
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
  guards: [],
  from: -Infinity,
  until: Infinity,
};

describe('the report of an experiment', () => {
  const root = mkdtempSync(join(tmpdir(), 'millrace-outcomes-'));
  let made = 0;

  after(() => rmSync(root, { recursive: true }));

  async function report(ledger: MadeExperiment, plan: Partial<ReportPlan> = {}): Promise<ExperimentReport> {
    made += 1;
    const folder = ledger.write(join(root, `ledger-${made}`));
    return await experimentReport(folder, join(root, `work-${made}`), { ...PLAN, ...plan }, 0.05);
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

  /** An act that moves the end of the ledger. */
  function untilLater(ledger: MadeExperiment, time = START + 10 * DAY): MadeExperiment {
    return ledger.act({ event: 'view', subject: 'p', time });
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
    const { arms, outcomes, scanned } = await report(untilLater(ledger));
    expect(arms.map(({ arm, units, mature, value }) => [arm, units, mature, value])).to.deep.equal([
      ['control', 1, 1, 10],
      ['popular', 2, 1, 8],
    ]);
    // The order of 23 h repeats event and product of another request, so it counts; that of 25 h is the same one again.
    expect(outcomes.feedback).to.deep.equal({
      byRequest: 2,
      byUnit: 3,
      duplicates: 3,
      outside: 2,
      outsideWindow: 2,
    });
    expect(scanned.orphans).to.equal(1);
  });

  it('counts what it leaves out, by reason', async () => {
    const ledger = new MadeExperiment();
    exposed(ledger, 'u1', 'control');
    exposed(ledger, 'both', 'control');
    exposed(ledger, 'both', 'popular', START + HOUR);
    exposed(ledger, '', 'control', START, { excluded: 'no_unit' });
    exposed(ledger, 'u9', 'popular', START, { excluded: 'override' });
    ledger.request({ request: 'other', time: START });
    const found = await report(untilLater(ledger));
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
  ): MadeExperiment {
    const random = new Random(5);
    const ledger = new MadeExperiment();
    for (let user = 0; user < users; user++) {
      const arm = armOf(user);
      const time = START + Math.floor((user / users) * 5 * DAY);
      const request = exposed(ledger, `u${user}`, arm === 1 ? 'popular' : 'control', time, more(user, arm));
      if (random.chance(chance[arm] ?? 0))
        ledger.act({ event: 'click', subject: 'p1', time: time + MINUTE, request });
    }
    return untilLater(ledger);
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
    const text = reportText(found, 80);
    expect(text).to.contain('one look at the end   unknown (decides)').and.not.contain('[unknown');
    expect(text).to.contain('power: it is not known which effect would be found by now');
    const many = await report(clicking(60, [0, 1]), { ...CLICKS, until });
    expect(many.arms[1]?.verdict).to.equal('better');
  });

  it('says that an arm had no unit', async () => {
    const ledger = untilLater(new MadeExperiment());
    exposed(ledger, 'u1', 'control');
    const running = await report(ledger, CLICKS);
    expect(decision(running)).to.deep.equal(['Not decided: popular had no user yet.']);
    const ended = await report(ledger, { ...CLICKS, until: START + DAY });
    expect(decision(ended)).to.deep.equal([
      'Keep control: the experiment has ended, and popular had no user.',
    ]);
    expect(reportPage(ended)).to.not.match(/NaN|undefined/);
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
    const guards = [{ metric: 'latency_p99', bound: undefined, at: AT }] as const;
    const text = reportText(await report(untilLater(ledger), { guards }), 80).replace(/\s+/g, ' ');
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
    const text = reportText(found, 80);
    expect(text).to.contain('hidden').and.not.contain('95 %');
    const json = JSON.stringify(reportJson(found));
    expect(json)
      .to.contain('"effects_hidden":true')
      .and.not.contain('"difference"')
      .and.not.contain('"value":0');
    expect(reportPage(found)).not.to.contain('Difference');
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
        { metric: 'latency_p50', bound: undefined, at: AT },
        { metric: 'failed', bound: undefined, at: AT },
        { metric: 'degraded', bound: 1, at: AT },
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
    const found = await report(untilLater(ledger));
    expect(found.arms.map(({ units, requests, failed }) => [units, requests, failed])).to.deep.equal([
      [1, 1, 0],
      [2, 3, 2],
    ]);
    expect(reportText(found, 80)).to.contain(
      '\nfailed     control 0 of 1 requests, popular 2 of 3 requests\n',
    );
    expect(reportPage(found)).to.contain('popular 2 of 3 requests');
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
    const found = await report(untilLater(ledger), { mode: 'interleave', metric });
    expect(found.preferences).to.include({
      ...{ units: 2, prefersArm: 1, prefersControl: 0, neither: 1, failedRequests: 2 },
    });
    expect(reportText(found, 80)).to.contain(
      '\nfailed     2 requests, which showed no page and do not count\n',
    );
    expect(reportPage(found)).to.contain('2 requests, which showed no page and do not count');
  });

  it('tells the direction of an interleaving by the preferences of users', async () => {
    const ledger = new MadeExperiment();
    for (let user = 0; user < 40; user++) {
      const shown = [{ id: 'same' }, { id: 'a', team: 'control' }, { id: 'b', team: 'popular' }];
      const request = exposed(ledger, `u${user}`, '*', START, { shown });
      const subject = user < 20 ? 'b' : user < 25 ? 'a' : 'same';
      ledger.act({ event: 'click', subject, time: START + MINUTE, request });
    }
    const found = await report(untilLater(ledger), { ...CLICKS, mode: 'interleave' });
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
    const found = await report(ledger, { ...CLICKS, mode: 'interleave' });
    expect(decision(found)).to.deep.equal(['Not decided: no user is mature yet, since 1 d have not passed.']);
  });

  it('fits a terminal of 80 columns, and is one page that loads nothing', async () => {
    const found = await report(clicking(600, [0.3, 0.4]), {
      ...CLICKS,
      guards: [{ metric: 'latency_p99', bound: 0.2, at: AT }],
    });
    const text = reportText(found, 80);
    expect(text.split('\n').filter((line) => line.length > 80)).to.deep.equal([]);
    expect(text).to.contain('decision');
    const page = reportPage(found);
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
