/** A rate limit: at most so many requests in a window of time. */
export interface Rate {
  readonly requests: number;
  /** The length of the window. */
  readonly seconds: number;
}

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
/** The longest window, in seconds. */
const LONGEST = 86_400;

/** What a valid rate looks like, for messages. */
export const RATE_FORM = 'a rate such as 100/s, 600/m or 5000/12h';

/** Parses `100/s` or `5000/12h`. Returns undefined for any other text. */
export function parseRate(text: string): Rate | undefined {
  const [, requests = '', count = '', unit = ''] =
    /^([1-9]\d{0,8})\/([1-9]\d{0,4})?([smhd])$/.exec(text) ?? [];
  const seconds =
    (count === '' ? 1 : Number(count)) * ((UNITS[unit as keyof typeof UNITS] as number | undefined) ?? NaN);
  return seconds <= LONGEST ? { requests: Number(requests), seconds } : undefined;
}

/** Writes a rate in its shortest form, which `parseRate` reads. */
export function rateText({ requests, seconds }: Rate): string {
  const [unit, length] = Object.entries(UNITS)
    .reverse()
    .find(([, size]) => seconds % size === 0) ?? ['s', 1];
  const count = seconds / length;
  return `${requests}/${count === 1 ? '' : count}${unit}`;
}

/** Returns the part of a rate that one of several workers allows, rounded up. */
export function shareOfRate({ requests, seconds }: Rate, workers: number): Rate {
  return { requests: Math.ceil(requests / workers), seconds };
}

export function isRate(value: unknown): value is Rate {
  return typeof value === 'object' && value !== null && 'requests' in value && 'seconds' in value;
}
