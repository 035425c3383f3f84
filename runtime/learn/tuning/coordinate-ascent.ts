/** A param that is tuned, with its range. */
export interface TunedParam {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

/** The values of the params, in their order. */
export type Point = readonly number[];

/** What is maximised. -Infinity for a point that is not possible. */
export type Objective = (point: Point) => Promise<number>;

export interface Optimum {
  readonly point: Point;
  readonly value: number;
}

export interface ClimbOptions {
  /** Whether to stop, with the best point so far. */
  readonly isOver?: () => boolean;
  /** Whether the start is near the top, so that no line is searched over the whole range. */
  readonly isNear?: boolean;
}

/** A round over all params that gains less than this is the last. */
const LEAST_GAIN = 1e-6;
const MOST_ROUNDS = 20;
/** Values of the first look along a param, the ends of its range included. */
const FIRST_LOOK = 11;
/** How often the look around the best value is narrowed, each time to a third. */
const CLOSER_LOOKS = 3;

/**
 * Climbs from a point along one param after the other until no param gains anything.
 * Source: Metzler and Croft, "Linear feature-based models for information retrieval", Information Retrieval 2007. The
 * measure is constant between jumps, so each line is searched by points, and the middle of the best stretch is taken.
 */
export async function climb(
  params: readonly TunedParam[],
  objective: Objective,
  start: Point,
  options: ClimbOptions = {},
): Promise<Optimum> {
  let best: Optimum = { point: start, value: await objective(start) };
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const before = best.value;
    for (const at of params.keys()) best = await bestAlong(params, at, objective, best, options);
    if (!(best.value > before + LEAST_GAIN)) break;
  }
  return best;
}

/** The better of two optima; the first, unless the second is clearly better. */
export function better(a: Optimum, b: Optimum): Optimum {
  return b.value > a.value + LEAST_GAIN ? b : a;
}

/** The same optimum with each param as it was at the start, if its change gains nothing. */
export async function withoutIdleChanges(
  objective: Objective,
  { point, value }: Optimum,
  start: Point,
): Promise<Optimum> {
  let simpler: Optimum = { point, value };
  for (const at of start.keys()) {
    const changed = simpler.point.with(at, start[at] ?? NaN);
    const reached = await objective(changed);
    if (reached >= simpler.value - LEAST_GAIN) simpler = { point: changed, value: reached };
  }
  return simpler;
}

/** Searches one param, with all others as they are. */
async function bestAlong(
  params: readonly TunedParam[],
  at: number,
  objective: Objective,
  from: Optimum,
  { isOver, isNear }: ClimbOptions,
): Promise<Optimum> {
  const param = params[at];
  if (param === undefined) return from;
  const start = from.point[at] ?? param.min;
  const seen = new Map<number, number>([[start, from.value]]);
  const look = async (values: readonly number[]): Promise<void> => {
    for (const value of values.map((one) => rounded(one, param)))
      if (!seen.has(value) && isOver?.() !== true)
        seen.set(value, await objective(from.point.with(at, value)));
  };
  let gap = (param.max - param.min) / (FIRST_LOOK - 1);
  if (isNear !== true) await look(Array.from({ length: FIRST_LOOK }, (_, i) => param.min + i * gap));
  for (let closer = 0; closer < CLOSER_LOOKS; closer++) {
    const middle = bestValue(seen, start);
    gap /= 3;
    await look([-2, -1, 1, 2].map((steps) => middle + steps * gap));
  }
  const value = bestValue(seen, start);
  return { point: from.point.with(at, value), value: seen.get(value) ?? from.value };
}

/** The value with the highest result: the start if it has it, otherwise the middle of a stretch of values that have it. */
function bestValue(seen: ReadonlyMap<number, number>, start: number): number {
  const highest = Math.max(...seen.values());
  const isBest = (value: number | undefined): boolean =>
    value !== undefined && (seen.get(value) ?? -Infinity) >= highest - 1e-12;
  if (isBest(start)) return start;
  const values = [...seen.keys()].sort((a, b) => a - b);
  const first = values.findIndex(isBest);
  let last = first;
  while (isBest(values[last + 1])) last += 1;
  return values[(first + last) >> 1] ?? start;
}

/** The value with as many decimals as a thousandth of the range needs, so that the YAML stays readable. */
export function rounded(value: number, { min, max }: TunedParam): number {
  const decimals = Math.max(0, 3 - Math.floor(Math.log10(max - min)));
  const near = decimals > 15 ? value : Number(value.toFixed(decimals));
  return Math.min(max, Math.max(min, near));
}
