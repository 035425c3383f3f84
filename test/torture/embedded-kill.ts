import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEmbeddedStore } from '../../runtime/state/store/embedded/embedded-store.js';
import { differenceFrom } from '../support/lane-check.js';
import { LANES, stateAfter, type LaneState } from '../support/lane-work.js';
import type { LaneAck, LaneStart } from '../support/lane-writer.js';

/**
 * Kills a process that writes to an embedded store (uploads, deletes and feature pushes, in lanes side by side) at a
 * random moment, opens its folder and looks at every id: each acknowledged write is there and whole, what was under
 * way is there whole or not at all, and the rows of both views are merged as they should be. 50 times,
 * every other time with `sync`; with --short 5.
 */

interface Lane {
  readonly state: LaneState;
  /** Writes that the state is made of. */
  readonly count: number;
}

const ROUNDS = process.argv.includes('--short') ? 5 : 50;
const WRITER = fileURLToPath(new URL('../support/lane-writer.js', import.meta.url));

const folder = await mkdtemp(join(tmpdir(), 'millrace-kill-'));
try {
  let lanes: Lane[] = Array.from({ length: LANES }, (_, lane) => ({ state: stateAfter(lane, 0), count: 0 }));
  let acknowledged = 0;
  let unacknowledged = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    const acks = await writeAndKill(
      lanes.map(({ count }) => count),
      round % 2 === 0,
    );
    const store = await openEmbeddedStore({ dataDir: folder });
    const found: Lane[] = [];
    for (const [lane, before] of lanes.entries()) {
      const acked = acks[lane] ?? 0;
      const now = statesOf(before, lane, acked);
      const differences = [];
      for (const one of now) differences.push(await differenceFrom(one.state, lane, store));
      const match = now[differences.indexOf(undefined)];
      if (match === undefined) {
        throw new Error(
          `round ${round}, lane ${lane}, ${acked} writes acknowledged: ${differences.join('; or ')}`,
        );
      }
      acknowledged += acked - before.count;
      unacknowledged += match.count - acked;
      found.push(match);
    }
    lanes = found;
    await store.close();
  }
  console.log(
    `${ROUNDS} kills: ${acknowledged} acknowledged writes of up to 60 records, none lost; ` +
      `${unacknowledged} that were under way are there whole, the other ${ROUNDS * LANES - unacknowledged} not at all`,
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Lets a writer work until a random moment; how many writes of each lane were acknowledged by then. */
async function writeAndKill(start: LaneStart, sync: boolean): Promise<number[]> {
  const writer = fork(WRITER, sync ? [folder, 'sync'] : [folder]);
  const acks = [...start];
  await once(writer, 'message');
  writer.on('message', ([lane, number]: LaneAck) => (acks[lane] = number + 1));
  writer.send(start);
  await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 500));
  writer.kill('SIGKILL');
  // After `close` no message is on its way any more.
  await Promise.all([once(writer, 'exit'), once(writer, 'disconnect')]);
  return acks;
}

/** The states that a lane may be in: its last write was under way when it was killed. */
function statesOf(before: Lane, lane: number, acked: number): Lane[] {
  const state = stateAfter(lane, acked, before);
  return [
    { state, count: acked },
    { state: stateAfter(lane, acked + 1, { state, count: acked }), count: acked + 1 },
  ];
}
