import { strict as assert } from 'node:assert';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Pool } from 'undici';
import { random } from '../support/catalogue.js';
import { median, ms, percentile, table } from '../support/measure.js';
import { run, type Contestant } from './contestants.js';

/** Clients that wait for each answer, to find the capacity. */
const CLIENTS = 16;
const CAPACITY_REQUESTS = 2000;
const ROUNDS = 5;
const SECONDS = 3;
const SHARE = 0.7;

/** A contestant at one kind of intervals, and what its rounds gave, in milliseconds. */
interface Pace {
  readonly contestant: Contestant;
  readonly isEven: boolean;
  readonly p50: number[];
  readonly p99: number[];
}

/**
 * Latencies at 70 % of the capacity, for requests at even and at random intervals (of a Poisson process). They count from the
 * moment at which a request was due, so one that is sent late is not a fast one. The contestants take turns, and the medians of
 * the rounds count: other work on the machine can spoil a round.
 */
export async function comparePaces(
  contestants: readonly Contestant[],
  bodies: readonly Buffer[],
  count: number,
): Promise<void> {
  const capacities = new Map<Contestant, number>();
  for (let round = 0; round < ROUNDS; round++)
    for (const contestant of contestants) {
      const start = performance.now();
      await run(contestant, bodies, CAPACITY_REQUESTS, CLIENTS);
      const capacity = CAPACITY_REQUESTS / ((performance.now() - start) / 1000);
      capacities.set(contestant, Math.max(capacity, capacities.get(contestant) ?? 0));
    }
  const paces = contestants.flatMap((contestant) =>
    [true, false].map((isEven): Pace => ({ contestant, isEven, p50: [], p99: [] })),
  );
  for (let round = 0; round < ROUNDS; round++)
    for (const { contestant, isEven, p50, p99 } of paces) {
      const latencies = await atPace(contestant, bodies, SHARE * (capacities.get(contestant) ?? 1), isEven);
      p50.push(median(latencies));
      p99.push(percentile(latencies, 99));
    }
  const middle = (all: number[]): number => median(all.sort((a, b) => a - b));
  const rows = paces.map(({ contestant, isEven, p50, p99 }) => {
    const ratio = middle(p99.map((one, round) => one / (p50[round] ?? NaN)));
    return [
      contestant.name,
      (capacities.get(contestant) ?? NaN).toFixed(0),
      isEven ? 'even' : 'random',
      ms(middle(p50)),
      ms(middle(p99)),
      ratio.toFixed(2),
    ];
  });
  console.log(
    `\n${count} candidates, at ${100 * SHARE} % of the capacity, ${ROUNDS} rounds of ${SECONDS} s\n`,
  );
  console.log(table(['', 'capacity/s', 'intervals', 'p50 ms', 'p99 ms', 'p99 / p50'], rows));
}

/** @returns the latencies in milliseconds, sorted */
async function atPace(
  { url, headers }: Contestant,
  bodies: readonly Buffer[],
  rate: number,
  isEven: boolean,
): Promise<number[]> {
  const pool = new Pool(url, { connections: 64 });
  const next = random(1);
  const latencies: number[] = [];
  const asked: Promise<void>[] = [];
  const ask = async (due: number, body: Buffer): Promise<void> => {
    const answer = await pool.request({
      path: '/api/v1/items',
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    await answer.body.text();
    assert.equal(answer.statusCode, 200);
    latencies.push(performance.now() - due);
  };
  let due = performance.now();
  for (let i = 0; i < rate * SECONDS; i++) {
    due += (1000 / rate) * (isEven ? 1 : -Math.log(1 - next()));
    while (performance.now() < due) await nextTurn();
    asked.push(ask(due, bodies[i % bodies.length] ?? Buffer.alloc(0)));
  }
  await Promise.all(asked);
  await pool.close();
  return latencies.sort((a, b) => a - b);
}
