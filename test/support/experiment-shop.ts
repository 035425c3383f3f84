import { Random } from '../../runtime/ground/core/random.js';
import { DAY, HOUR, MINUTE, START } from './made-ledger.js';
import { MadeExperiment } from './made-experiment.js';

/**
 * A ledger of the experiment `popularity`: users who look for four days, and buy. Most of them bought before. Arm `popular`
 * sells more, and takes longer. The numbers depend only on the seed.
 * @param lost the share of the users of `popular` that the log lacks
 */
export function experimentLedger(users = 4000, lost = 0): MadeExperiment {
  const random = new Random(23);
  const past = new Random(24);
  const ledger = new MadeExperiment();
  for (let user = 0; user < users; user++) {
    let spent = 0;
    const arm = random.chance(0.5) ? 'popular' : 'control';
    const first = START + Math.floor((user / users) * 4 * DAY);
    const requests = random.between(1, 3);
    if (arm === 'popular' && random.chance(lost)) continue;
    for (let number = 0; number < requests; number++) {
      const time = first + number * HOUR;
      const request = `u${user}-${number}`;
      ledger.request({
        request,
        time,
        experiment: 'popularity',
        arm,
        unit: `u${user}`,
        ms: 4 + 8 * random.next() ** 3 + (arm === 'popular' ? 0.1 : 0),
        degraded: random.chance(0.01),
      });
      if (!random.chance(arm === 'popular' ? 0.22 : 0.16)) continue;
      const revenue = random.between(5, 60);
      // What the arm adds is not of the past.
      if (arm === 'control' || past.chance(0.16 / 0.22)) spent += revenue;
      ledger.act({ event: 'order', subject: 'p1', time: time + 20 * MINUTE, request, revenue });
    }
    // Those who buy now mostly bought as much before.
    const before = past.chance(0.7) ? spent : past.chance(0.2) ? past.between(5, 60) : 0;
    const was = first - past.between(1, 13) * DAY;
    if (before > 0)
      ledger.act({ event: 'order', subject: 'p1', time: was, user: `u${user}`, revenue: before });
    if (user % 40 === 0)
      ledger.request({
        request: `nobody-${user}`,
        time: first,
        experiment: 'popularity',
        arm: 'control',
        excluded: 'no_unit',
      });
  }
  return ledger
    .act({ event: 'click', subject: 'p1', time: START - 14 * DAY, user: 'u1' })
    .act({ event: 'click', subject: 'p1', time: START + 12 * DAY, user: 'u1' });
}

/** A ledger of the pipeline `search` before an experiment: 40 days, with 100 new users a day who often come again. */
export function earlierLedger(): MadeExperiment {
  const random = new Random(25);
  const ledger = new MadeExperiment();
  for (let user = 0; user < 4000; user++) {
    const [first, buys] = [START - 40 * DAY + Math.floor((user / 100) * DAY), random.next() ** 2];
    for (let visit = 0; visit < 6; visit++) {
      const time = first + visit * 6 * DAY;
      const request = `u${user}-${visit}`;
      if (time >= START) break;
      ledger.request({ request, time, user: `u${user}` });
      if (random.chance(buys))
        ledger.act({
          event: 'order',
          subject: 'p1',
          time: time + HOUR,
          request,
          revenue: random.between(5, 60),
        });
    }
  }
  return ledger;
}

/** Five products in the order of their numbers, by what users click on them. */
const WORTH = [0.5, 0.4, 0.3, 0.2, 0.1];

/**
 * A ledger of the pipeline `search`, whose first five candidates are swapped with their neighbours with a probability of
 * 0.5. Users look at a place with the probability 1 / the place.
 */
export function exploredLedger(pages = 4000, swaps = 0.5): MadeExperiment {
  const random = new Random(18);
  const ledger = new MadeExperiment();
  for (let page = 0; page < pages; page++) {
    const time = START + page * MINUTE;
    const request = `r${page}`;
    const shown: { id: string; before: number; propensity: number; marginal: number }[] = [];
    for (let place = 1; place <= WORTH.length; place += 2) {
      const draws = place < WORTH.length;
      const isSwapped = draws && random.chance(swaps);
      for (const before of draws ? (isSwapped ? [place + 1, place] : [place, place + 1]) : [place]) {
        const own = isSwapped ? swaps : 1 - swaps;
        const propensity = !draws || shown.length % 2 === 1 ? 1 : own;
        shown.push({ id: `p${before}`, before, propensity, marginal: draws ? own : 1 });
      }
    }
    ledger.request({ request, time, user: `u${page % 1000}`, shown });
    for (const [at, { id, before }] of shown.entries())
      if (random.chance((WORTH[before - 1] ?? 0) / (at + 1)))
        ledger.act({ event: 'click', subject: id, time: time + 1000, request });
  }
  return ledger;
}
