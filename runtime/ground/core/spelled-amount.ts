/** Units as people write them, by the unit that Millrace reads. */
const UNITS: Readonly<Record<string, RegExp>> = {
  ms: /^(ms|msecs?|millis|milliseconds?|millisekunden?)$/,
  s: /^(s|secs?|seconds?|sekunden?)$/,
  m: /^(m|mins?|minutes?|minuten?)$/,
  h: /^(h|hrs?|hours?|stunden?)$/,
  d: /^(d|days?|tage?)$/,
  w: /^(w|wks?|weeks?|wochen?)$/,
  B: /^(b|bytes?)$/,
  KB: /^(k|kb|kib|kilobytes?)$/,
  MB: /^(mb|mib|megabytes?)$/,
  GB: /^(g|gb|gib|gigabytes?)$/,
  TB: /^(t|tb|tib|terabytes?)$/,
  '%': /^(%|percent|per cent|pct|prozent)$/,
};

/**
 * Spells `1 hour`, `64 mb` or `20 percent` as `1h`, `64MB` or `20%`. A text that is spelt so already has no other spelling.
 * @param fits whether a spelling is valid here
 */
export function spelledAmount(text: string, fits: (spelling: string) => boolean): string | undefined {
  const [, amount = '', unit = ''] = /^(\d+(?:\.\d+)?)[ _]?([a-z% ]+)$/i.exec(text) ?? [];
  return Object.entries(UNITS)
    .filter(([, words]) => words.test(unit.toLowerCase()))
    .map(([known]) => `${amount}${known}`)
    .find((spelling) => spelling !== text && fits(spelling));
}
