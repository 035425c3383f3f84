import { openEmbeddedStore } from '../../runtime/state/store/embedded/embedded-store.js';
import { doWrite, laneServices, LANES } from './lane-work.js';

/** The number of the next write, by lane. */
export type LaneStart = readonly number[];
/** A lane, and the number of its acknowledged write. */
export type LaneAck = readonly [lane: number, number: number];

/**
 * A process that writes to an embedded store in lanes, starting at the numbers that its parent sends first. It
 * reports each acknowledged write to the parent until it is killed.
 */
const store = await openEmbeddedStore({ dataDir: process.argv[2] ?? '', sync: process.argv[3] === 'sync' });
const services = laneServices(store);
process.once('message', (start: LaneStart) => {
  for (let lane = 0; lane < LANES; lane++) void work(lane, start[lane] ?? 0);
});
process.send?.('ready');

async function work(lane: number, start: number): Promise<void> {
  for (let number = start; process.connected; number++) {
    await doWrite(services, lane, number);
    process.send?.([lane, number] satisfies LaneAck);
  }
}
