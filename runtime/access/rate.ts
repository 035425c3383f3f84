/** A rate limit: at most so many requests within so many seconds. */
export interface Rate {
  readonly points: number;
  readonly seconds: number;
}

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
/** The longest period, in seconds. */
const LONGEST = 86_400;

export const RATE_EXPECTED = 'a number of requests per time, e.g. 100/s, 600/m or 5000/12h';

/** Parses `100/s` or `5000/12h`. Returns undefined for any other text. */
export function parseRate(text: string): Rate | undefined {
  const [, points = '', count = '', unit = ''] = /^([1-9]\d{0,8})\/([1-9]\d{0,4})?([smhd])$/.exec(text) ?? [];
  const seconds =
    (count === '' ? 1 : Number(count)) * ((UNITS[unit as keyof typeof UNITS] as number | undefined) ?? NaN);
  return seconds <= LONGEST ? { points: Number(points), seconds } : undefined;
}

/** Writes a rate in its shortest form, which `parseRate` reads. */
export function rateText({ points, seconds }: Rate): string {
  const [unit, length] = Object.entries(UNITS)
    .reverse()
    .find(([, size]) => seconds % size === 0) ?? ['s', 1];
  const count = seconds / length;
  return `${points}/${count === 1 ? '' : count}${unit}`;
}
