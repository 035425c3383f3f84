import { readHotRecords, type HotRecord } from './counters/hot-records.js';
import { PLACES, READERS, torture, WRITERS, type Figures } from './counters/torture.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';

export const counters: Proof = {
  name: 'counters',
  summary: 'counters equal an oracle after killed clients, services and servers, and moving slots',
  page: 'counters.md',
  run: prove,
};

async function prove({ short }: ProofOptions): Promise<ProofResult> {
  const rows: string[] = [];
  const missed: string[] = [];
  for (const place of PLACES) {
    const figures = await torture(place, short ? 5_000 : 45_000);
    console.log(`${place}: ${JSON.stringify(figures)}`);
    const { killedServices, killedServers, movedSlots, lost, twice, backwards } = figures;
    rows.push(
      row([
        ...[place, figures.events, figures.cut, figures.refused, figures.unreachable],
        ...[killedServices, killedServers, movedSlots, lost, twice, backwards],
      ]),
    );
    missed.push(...missesOf(figures).map((miss) => `${place}: ${miss}`));
  }
  const hot = await readHotRecords(short);
  missed.push(...missesOfHot(hot));
  return {
    markdown: [
      `${WRITERS} writers send clicks, and some of them are killed while a request is in flight. ${READERS} readers rank. Meanwhile, services and`,
      'Redis servers (`appendfsync always`) are killed and started again, and slots of the cluster move, also while a server of the slot is',
      'away. Each body is sent again until it is acknowledged. A refused request got a 5xx answer; an unreachable one lost its connection or its time.',
      '',
      row([...HEAD]),
      row(HEAD.map(() => '---')),
      ...rows,
      '',
      'At the end, the counts of every service are compared with an oracle over all events: lost, and counted twice. Readers look whether a',
      'count decreases.',
      '',
      'What a record with many events costs to read and to keep:',
      '',
      row(['key', 'events', 'bytes', 'ns to read 6 features']),
      row(['---', '---', '---', '---']),
      ...hot.map(({ key, events, bytes, ns }) => row([key, events, bytes, ns.toFixed(0)])),
    ].join('\n'),
    missed,
  };
}

const HEAD = [
  ...['store', 'events', 'killed clients', 'refused', 'unreachable', 'killed services', 'killed servers'],
  ...['moved slots', 'lost', 'twice', 'decreased'],
];

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

/** A run without outages proves nothing, so each kind of outage must have happened. */
function missesOf(figures: Figures): string[] {
  const { place, lost, twice, backwards, rankings, cut, refused, unreachable } = figures;
  const misses: string[] = [];
  const must = (holds: boolean, miss: string): void => {
    if (!holds) misses.push(miss);
  };
  must(lost === 0, `bound 0 lost events, was ${lost}`);
  must(twice === 0, `bound 0 events counted twice, was ${twice}`);
  must(backwards === 0, `bound 0 decreased counts, was ${backwards}`);
  must(rankings > 0, 'no ranking was answered');
  must(cut > 0, 'no client was killed while its request was in flight');
  must(figures.killedServices > 0, 'no service was killed');
  must(refused + unreachable > 0, 'no request failed although services were killed');
  if (place !== 'embedded') must(figures.killedServers > 0, 'no server was killed');
  if (place !== 'embedded') must(refused > 0, 'no request was refused although a server was killed');
  if (place === 'cluster') must(figures.movedSlots > 0, 'no slot moved');
  return misses;
}

/** The most bytes of a record with six features, of which one counts distinct values, and with ids. */
const MOST_BYTES = 6 * 300 + 8192 + 32 * 12;

/** The bytes of a record and the time to read it may depend on its features, but not on the number of its events. */
function missesOfHot(hot: readonly HotRecord[]): string[] {
  const misses: string[] = [];
  for (const { key, events, bytes, ns } of hot) {
    if (bytes > MOST_BYTES) misses.push(`${key}, ${events} events: bound ${MOST_BYTES} bytes, was ${bytes}`);
    const full = hot.find((one) => one.key === key && one.events >= 1000);
    if (full === undefined) continue;
    const bound = 3 * full.ns;
    if (ns > bound)
      misses.push(`${key}, ${events} events: bound ${bound.toFixed(0)} ns, was ${ns.toFixed(0)}`);
  }
  return misses;
}
