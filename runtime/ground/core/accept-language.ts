/** A language with an optional region and so on, and its weight: `de-AT;q=0.8`. */
const RANGE = /^\s*([a-z]{2,3})(?:-[a-z0-9]{1,8})*\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i;

/** Longer headers are cut. Those of browsers have up to about 100 characters. */
const LONGEST = 512;

/**
 * The language that a header Accept-Language prefers, without its region, in lower case; the first of several with one
 * weight. '' if it names none. Source: RFC 9110, section 12.5.4.
 */
export function preferredLanguage(header: string): string {
  let best = '';
  let most = 0;
  for (const part of header.slice(0, LONGEST).split(',')) {
    const [, language, weight = '1'] = RANGE.exec(part) ?? [];
    if (language === undefined || Number(weight) <= most) continue;
    most = Number(weight);
    best = language.toLowerCase();
  }
  return best;
}
