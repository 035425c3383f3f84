/** A number of requests in a window of time. */
export interface Rate {
  readonly requests: number;
  /** The length of the window. */
  readonly seconds: number;
}

const UNITS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 };
const RATE = /^([1-9]\d{0,8})\/(s|min|h)$/;

/** What a valid rate looks like, for messages. */
export const RATE_FORM = 'a rate such as 100/s, 1000/min or 5000/h';

/** Parses `100/s`, `1000/min` or `5000/h`. Returns undefined if the text has another form. */
export function parseRate(text: string): Rate | undefined {
  const [, requests, unit = ''] = RATE.exec(text) ?? [];
  const seconds = UNITS[unit];
  return requests === undefined || seconds === undefined
    ? undefined
    : { requests: Number(requests), seconds };
}

/** Returns the part of a rate that one of several workers allows, rounded up. */
export function shareOfRate({ requests, seconds }: Rate, workers: number): Rate {
  return { requests: Math.ceil(requests / workers), seconds };
}

export function isRate(value: unknown): value is Rate {
  return typeof value === 'object' && value !== null && 'requests' in value && 'seconds' in value;
}
