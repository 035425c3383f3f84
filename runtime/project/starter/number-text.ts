/** How the numbers of a column are written. */
export type NumberStyle = 'plain' | 'comma' | 'thousands';

const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** 12,50 and 1.299,00: the comma comes before the decimals. */
const COMMA = /^[+-]?(\d{1,3}([. ]\d{3})+|\d+),\d+$/;
/** 1,299 and 1,299.00: commas group the thousands. */
const THOUSANDS = /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/;
const CURRENCY = /^[€$£¥]\s*|\s*([€$£¥]|EUR|USD|GBP|CHF)$/g;

/** The styles in which a text is a number; none if it is no number. */
export function stylesOf(text: string): readonly NumberStyle[] {
  const bare = withoutCurrency(text);
  if (PLAIN.test(bare)) return Number.isFinite(Number(bare)) ? ['plain'] : [];
  const styles: NumberStyle[] = [];
  if (COMMA.test(bare)) styles.push('comma');
  if (THOUSANDS.test(bare)) styles.push('thousands');
  return styles;
}

/** Reads a number; undefined if the text is none in this style. A number without a comma fits every style. */
export function readNumber(text: string, style: NumberStyle): number | undefined {
  const bare = withoutCurrency(text);
  const styles = stylesOf(bare);
  if (styles.includes('plain')) return Number(bare);
  if (!styles.includes(style)) return undefined;
  return Number(style === 'comma' ? bare.replace(/[. ]/g, '').replace(',', '.') : bare.replaceAll(',', ''));
}

/** Whether a number is written as codes are: with a zero in front. */
export function hasLeadingZero(text: string): boolean {
  return /^0\d/.test(text.trim());
}

function withoutCurrency(text: string): string {
  return text.trim().replace(CURRENCY, '');
}
