import { Random } from '../../../runtime/ground/core/random.js';
import { logGamma } from '../../../runtime/ground/core/distributions.js';
import { effectOf } from '../../../runtime/learn/evaluation/effect.js';
import { POWER_FACTOR, signTest } from '../../../runtime/learn/evaluation/experiment-tests.js';
import { UnitMoments } from '../../../runtime/learn/evaluation/unit-moments.js';
import { normal } from './populations.js';
import { teamDraft } from './team-draft.js';

/** How many requests a split and an interleaving need to find an effect. */
export interface Cost {
  readonly effect: number;
  readonly split: Needed;
  readonly interleaving: Needed;
}

export interface Needed {
  readonly requests: number;
  /** The share of the simulated experiments of this size that found the effect. */
  readonly power: number;
}

export interface CostOptions {
  readonly seed: number;
  /** Users that are simulated to know the distributions of outcomes. */
  readonly pool: number;
  /** Experiments that are drawn from them to verify the power. */
  readonly experiments: number;
}

const CANDIDATES = 20;
const PAGE = 10;
/** Requests on which the improvement of arm B is set. */
const CALIBRATION = 20_000;
/** After each request, a user sends another one with this probability. */
const AGAIN = 0.5;
/** The deviation of the noise of arm A. Arm B has the same noise, reduced by a factor. */
const NOISE = 0.3;

/** A request with what each candidate is worth, and the noise of the scores. */
interface Shown {
  readonly worth: Float64Array;
  readonly noise: Float64Array;
}

function drawRequest(random: Random): Shown {
  const worth = Float64Array.from({ length: CANDIDATES }, () => 0.01 + 0.3 * random.next() ** 4);
  const noise = Float64Array.from({ length: CANDIDATES }, () => NOISE * normal(random));
  return { worth, noise };
}

function rank({ worth, noise }: Shown, noiseFactor: number): readonly number[] {
  const scores = worth.map((value, at) => value + noiseFactor * (noise[at] ?? 0));
  return Array.from(scores.keys()).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
}

/** The probability of a click on a candidate: users look at the first places most. */
function clickChance({ worth }: Shown, candidate: number, place: number): number {
  return (worth[candidate] ?? 0) / Math.sqrt(place);
}

/** The probability of at least one click on the page. */
function success(shown: Shown, ranked: readonly number[]): number {
  let none = 1;
  for (let place = 1; place <= PAGE; place++) none *= 1 - clickChance(shown, ranked[place - 1] ?? 0, place);
  return 1 - none;
}

/** The factor on the noise at which arm B has this many more requests with a click than arm A. */
function factorFor(effect: number, seed: number): number {
  const random = new Random(seed);
  const requests = Array.from({ length: CALIBRATION }, () => drawRequest(random));
  const base = meanOf(requests, (one) => success(one, rank(one, 1)));
  let [low, high] = [0, 1];
  for (let step = 0; step < 20; step++) {
    const middle = (low + high) / 2;
    if (meanOf(requests, (one) => success(one, rank(one, middle))) - base < effect) high = middle;
    else low = middle;
  }
  return (low + high) / 2;
}

function meanOf<T>(items: readonly T[], valueOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + valueOf(item), 0) / items.length;
}

/** Simulates users of a split and of an interleaving, and finds how many each needs for a power of 0.8 at 5 %. */
export function costOf(effect: number, { seed, pool, experiments }: CostOptions): Cost {
  const factor = factorFor(effect, seed);
  // The arms see the same users, so that chance moves the difference of the arms little.
  const arms = [1, factor].map((its) => splitUsers(new Random(seed + 1), its, pool));
  const random = new Random(seed + 2);
  const [control = new Users(0), arm = new Users(0)] = arms;
  const variances = arms.map((users) => users.moments().variance * pool);
  const users = Math.ceil((POWER_FACTOR / effect) ** 2 * ((variances[0] ?? 0) + (variances[1] ?? 0)));
  let found = 0;
  for (let i = 0; i < experiments; i++) {
    const { fixed } = effectOf(arm.resample(random, users), control.resample(random, users));
    if (fixed.lower > 0) found += 1;
  }
  const preferences = interleavedUsers(random, factor, pool);
  const needed = usersForSigns(preferences.balance);
  let seen = 0;
  for (let i = 0; i < experiments; i++) {
    let [wins, losses] = [0, 0];
    for (let user = 0; user < needed; user++) {
      const one = preferences.balance[Math.floor(random.next() * pool)] ?? 0;
      if (one > 0) wins += 1;
      else if (one < 0) losses += 1;
    }
    if (wins > losses && signTest(wins, losses) < 0.05) seen += 1;
  }
  return {
    effect,
    split: {
      requests: Math.round(users * (control.perUser() + arm.perUser())),
      power: found / experiments,
    },
    interleaving: {
      requests: Math.round((needed * preferences.requests) / pool),
      power: seen / experiments,
    },
  };
}

/** The outcomes of simulated users. */
class Users {
  readonly clicked: Float64Array;
  readonly requests: Float64Array;

  constructor(count: number) {
    this.clicked = new Float64Array(count);
    this.requests = new Float64Array(count);
  }

  moments(): UnitMoments {
    const all = new UnitMoments();
    this.requests.forEach((requests, at) => all.add(this.clicked[at] ?? 0, requests));
    return all;
  }

  /** Draws users with replacement. */
  resample(random: Random, count: number): UnitMoments {
    const drawn = new UnitMoments();
    for (let i = 0; i < count; i++) {
      const at = Math.floor(random.next() * this.requests.length);
      drawn.add(this.clicked[at] ?? 0, this.requests[at] ?? 1);
    }
    return drawn;
  }

  perUser(): number {
    return this.requests.reduce((sum, one) => sum + one, 0) / this.requests.length;
  }
}

function splitUsers(random: Random, factor: number, count: number): Users {
  const users = new Users(count);
  for (let user = 0; user < count; user++) {
    let [clicked, requests] = [0, 0];
    do {
      const shown = drawRequest(random);
      requests += 1;
      if (random.chance(success(shown, rank(shown, factor)))) clicked += 1;
    } while (random.chance(AGAIN));
    users.clicked[user] = clicked;
    users.requests[user] = requests;
  }
  return users;
}

/** @returns for each user the credit of arm B minus that of arm A; and the number of requests */
function interleavedUsers(
  random: Random,
  factor: number,
  count: number,
): { readonly balance: Int32Array; readonly requests: number } {
  const balance = new Int32Array(count);
  let requests = 0;
  for (let user = 0; user < count; user++) {
    let difference = 0;
    do {
      requests += 1;
      const shown = drawRequest(random);
      const teams = teamDraft(rank(shown, 1), rank(shown, factor), PAGE, random);
      for (const [at, { item, credit }] of teams.entries())
        if (credit !== 0 && random.chance(clickChance(shown, item, at + 1))) difference += credit;
    } while (random.chance(AGAIN));
    balance[user] = difference;
  }
  return { balance, requests };
}

/** The users that a sign test needs for a power of 0.8 at 5 %. */
function usersForSigns(balance: Int32Array): number {
  const wins = balance.filter((one) => one > 0).length;
  const decided = wins + balance.filter((one) => one < 0).length;
  let users = 6;
  while (powerOfSigns(users, wins / decided) < 0.8) users += 1;
  return Math.ceil((users * balance.length) / decided);
}

/** The probability that the sign test finds the better side, if a user prefers it with this probability. */
function powerOfSigns(users: number, share: number): number {
  let power = 0;
  for (let wins = users; wins > users / 2 && signTest(wins, users - wins) < 0.05; wins--) {
    const ways = logGamma(users + 1) - logGamma(wins + 1) - logGamma(users - wins + 1);
    power += Math.exp(ways + wins * Math.log(share) + (users - wins) * Math.log(1 - share));
  }
  return power;
}
