import { VectorTable } from '../plugins/vectors/vector-table.js';
import { random } from './support/catalogue.js';
import { cpuSince, median, memory, ms, percentile, table } from './support/measure.js';

const WANTED = 200;
const QUERIES = 40;

/**
 * Measures the table of the retriever `vectors`: memory, time to fill it, the nearest of all, updates. The longest piece is what
 * a slice of 4 ms can exceed.
 */
export async function vectorsBench(short: boolean): Promise<void> {
  const cases: readonly (readonly [number, number])[] = short
    ? [[2000, 384]]
    : [
        [20_000, 384],
        [100_000, 64],
        [100_000, 384],
      ];
  const rows: string[][] = [];
  for (const [count, size] of cases) rows.push(await measureCase(count, size));
  console.log(`the ${WANTED} nearest; CPU of one core`);
  console.log(
    table(
      ['entities × size', 'bytes an entity', 'fill s', 'p50 ms', 'p99 ms', 'longest piece ms', 'updates/s'],
      rows,
    ),
  );
}

async function measureCase(count: number, size: number): Promise<string[]> {
  const next = random(1);
  const vector = (): Float64Array => Float64Array.from({ length: size }, () => next() - 0.5);
  // Vectors differ by their order, so that those of the case take little memory.
  const some = Array.from({ length: 1000 }, vector);
  const one = (i: number): Float64Array => some[(i * 7919) % some.length] ?? vector();
  const ids = Array.from({ length: count }, (_, i) => `p${i}`);
  const nearest = new VectorTable(size);
  const before = await memory();
  const filling = process.cpuUsage();
  for (const [i, id] of ids.entries()) nearest.put(id, one(i));
  const fill = cpuSince(filling);
  const bytes = ((await memory()) - before) / count;
  const times: number[] = [];
  let longest = 0;
  for (let i = -5; i < QUERIES; i++) {
    const target = vector();
    const start = process.cpuUsage();
    const work = nearest.nearest(target, WANTED);
    for (let isOver = false; !isOver;) {
      const piece = process.cpuUsage();
      isOver = work.next().done === true;
      if (i >= 0) longest = Math.max(longest, cpuSince(piece));
    }
    if (i >= 0) times.push(cpuSince(start));
  }
  times.sort((a, b) => a - b);
  const updating = process.cpuUsage();
  for (let i = 0; i < count; i += 10) nearest.put(`p${i}`, one(i + 1));
  const perSecond = (1000 * Math.ceil(count / 10)) / cpuSince(updating);
  return [
    `${count} × ${size}`,
    bytes.toFixed(0),
    (fill / 1000).toFixed(2),
    ms(median(times)),
    ms(percentile(times, 99)),
    ms(longest),
    perSecond.toFixed(0),
  ];
}
