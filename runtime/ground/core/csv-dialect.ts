/** Bytes 0x80 to 0x9f of Windows-1252; the others are those of Latin-1. Five of them are not assigned. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

const SEPARATORS = [',', '\t', ';', '|'] as const;
export type Separator = (typeof SEPARATORS)[number];

/** The separator that the first line has most of, outside of quotes; a comma if it has none. */
export function separatorOf(text: string): Separator {
  const [line = ''] = text.split(/\r?\n/, 1);
  const bare = line.replaceAll(/"[^"]*"?/g, '');
  const counts = SEPARATORS.map((separator) => bare.split(separator).length);
  return SEPARATORS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** The line with which Excel names the separator of a file. */
const NAMED = /^\uFEFF?sep=([,;|\t])\r?\n/i;

/** The separator of a CSV file, and where its header begins: after the line `sep=;` that Excel understands, if it has one. */
export function csvDialect(text: string): { readonly separator: Separator; readonly start: number } {
  const [line = '', named] = NAMED.exec(text) ?? [];
  return { separator: (named as Separator | undefined) ?? separatorOf(text), start: line.length };
}

/** The text of a file as spreadsheets write it: UTF-8 or UTF-16, the latter with a mark, else Windows-1252. No mark is left. */
export function decodeSheet(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // Not the decoder of the platform: some versions of Node take Windows-1252 for Latin-1.
    return bytes
      .toString('latin1')
      .replaceAll(/[\u0080-\u009f]/g, (one) => WINDOWS_1252[one.charCodeAt(0) - 0x80] ?? one);
  }
}

/** What a spreadsheet takes for a formula, also after apostrophes that guard it. */
const FORMULA = /^'*[=+\-@\t\r]/;

/** A cell that no spreadsheet takes for a formula: an apostrophe stands before it. */
export function guardedCell(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** The reverse. */
export function withoutGuard(text: string): string {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}
