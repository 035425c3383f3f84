import type { GrowingCase, Load } from './load.js';
import type { Answer, MeasuredService } from './turns.js';

/** The bounds that every case keeps. */
export const BOUNDS = {
  /** CPU time of the main thread in one turn of the event loop, milliseconds. */
  turnMs: 20,
  /** CPU a byte of the largest body, compared with a body of a quarter of it. */
  growth: 1.5,
  /** CPU a byte of the largest body, nanoseconds. */
  perByteNs: 200,
};
/** Bodies double until one costs this much CPU, and then twice more; milliseconds. */
const ENOUGH_MS = 10;
/** A body that costs less says nothing of growth: the request itself costs as much. */
const LEAST_MS = 4;
/**
 * Where the product bounds what a body may ask for, with a 422, or the body or its cost does not grow, the whole cost is the
 * measure: no more than this. Such a body may be small, and work on what all candidates share is no share of its bytes.
 */
const BOUNDED_MS = 40;
/** A body that costs more is the last one. */
const MOST_MS = 250;
const MOST_FAR_MS = 2500;
const FIRST_BYTES = 32 * 1024;
/**
 * A figure near or beyond its bound is measured again, up to so many times, and the best counts: the machine has other work,
 * which takes the caches. The same body takes the same work, so what is too long is too long each time.
 */
const REPEATS = 6;

export interface Grown {
  /** CPU a byte at the largest size, divided by that at a quarter; 0 if the case is too cheap to tell. */
  readonly growth: number;
  readonly perByteNs: number;
  /** The bound of CPU a byte. */
  readonly mostPerByteNs: number;
  readonly turnMs: number;
  /** The size and the cost of the largest body. */
  readonly bytes: number;
  readonly cpuMs: number;
  readonly sent: number;
  readonly lost: number;
  /** The statuses of the answers. */
  readonly statuses: ReadonlySet<number>;
  /** A body of this size was refused where smaller ones were not. */
  readonly refusedAt: number | undefined;
  /** Whether a bound of the product, or the shape of the body, keeps it from growing: then it costs little as a whole. */
  readonly isBounded: boolean;
}

interface Point {
  bytes: number;
  cpuMs: number;
  turnMs: number;
}

/** Measures a case at growing sizes. */
export async function grow(service: MeasuredService, one: GrowingCase): Promise<Grown> {
  const points = new Map<number, Point>();
  const statuses = new Set<number>();
  let [sent, lost, seed] = [0, 0, 1];
  let answer: Answer = { status: 0, body: '' };
  const measure = async (size: number): Promise<Point> => {
    const load = one.make(size, seed++);
    for (const stored of load.before ?? []) await service.send(stored);
    const { cpu, longest } = await service.during(async () => {
      answer = await service.ask(load.sent);
      statuses.add(answer.status);
      if (answer.status === 0) lost++;
    });
    sent++;
    const found = { bytes: bytesOf(load, answer), cpuMs: cpu, turnMs: longest };
    const best = points.get(size);
    if (best === undefined) points.set(size, found);
    else {
      if (found.cpuMs / found.bytes < best.cpuMs / best.bytes)
        Object.assign(best, { bytes: found.bytes, cpuMs: cpu });
      best.turnMs = Math.min(best.turnMs, longest);
    }
    return points.get(size) ?? found;
  };
  let size = Math.min(FIRST_BYTES, one.limit);
  let enough = 0;
  let refusedAt: number | undefined;
  let largest = await measure(size);
  const isFar = one.isFar === true;
  const mostPerByteNs = one.perByteNs ?? BOUNDS.perByteNs;
  // A product with a bound costs much a byte. The bound shows only beyond it.
  const mayBeBounded = (): boolean =>
    largest.cpuMs < BOUNDED_MS && (largest.cpuMs * 1e6) / largest.bytes > mostPerByteNs;
  while (
    largest.cpuMs < (isFar ? MOST_FAR_MS : MOST_MS) &&
    size < one.limit &&
    (isFar || enough < 2 || mayBeBounded())
  ) {
    if (largest.cpuMs >= ENOUGH_MS) enough++;
    const accepted = answer.status === 200;
    // Far below, the next sizes tell nothing.
    const step = largest.cpuMs < ENOUGH_MS / 8 ? 4 : 2;
    const next = Math.min(size * step, one.limit);
    const found = await measure(next);
    if (accepted && answer.status !== 200 && answer.status !== 0) {
      refusedAt = next;
      break;
    }
    size = next;
    largest = found;
  }
  const quarter = points.get(size / 4) ?? (await measure(size / 4));
  const isBounded = (): boolean =>
    refusedAt !== undefined || largest.bytes < 2 * quarter.bytes || largest.cpuMs < 1.5 * quarter.cpuMs;
  const isCheap = (): boolean => largest.cpuMs < (isBounded() ? BOUNDED_MS : LEAST_MS);
  const growth = (): number =>
    isCheap() ? 0 : largest.cpuMs / largest.bytes / (quarter.cpuMs / quarter.bytes);
  const perByteNs = (): number =>
    isCheap() || one.isWide === true ? 0 : (largest.cpuMs * 1e6) / largest.bytes;
  const turnMs = (): number => Math.max(...Array.from(points.values(), (point) => point.turnMs));
  for (let i = 0; i < REPEATS; i++) {
    const excess = Math.max(growth() / BOUNDS.growth, perByteNs() / mostPerByteNs);
    // What is far beyond its bound twice is no noise.
    if (excess <= 1 || (i > 1 && excess > 2)) break;
    await measure(size / 4);
    await measure(size);
  }
  for (const [again, point] of points)
    for (let i = 1; i < REPEATS && point.turnMs > BOUNDS.turnMs * 0.75; i++) await measure(again);
  const { bytes, cpuMs } = largest;
  return {
    growth: growth(),
    perByteNs: perByteNs(),
    mostPerByteNs,
    turnMs: turnMs(),
    bytes,
    cpuMs,
    sent,
    lost,
    statuses,
    refusedAt,
    isBounded: isBounded(),
  };
}

function bytesOf({ sent, read = 0, readOf }: Load, { status, body }: Answer): number {
  return sent.bytes.length + (status === 200 ? read + (readOf?.(JSON.parse(body) as unknown) ?? 0) : 0);
}
