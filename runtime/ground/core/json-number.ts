/** Powers of ten that a double holds exactly, for numbers with up to eight decimals. */
const POWERS = Array.from({ length: 9 }, (_, decimals) => 10 ** decimals);
/** Numbers below this have at most 15 digits with eight decimals, so that no other number has the same digits. */
const MOST = 1e7;
/** JSON has smaller ones with an exponent. */
const LEAST = 1e-6;

/** The most bytes of one number. */
export const NUMBER_BYTES = 25;

/**
 * Writes a number as JSON.stringify does, and three times as fast if it has few decimals: prices, rates, counts. These are
 * found by division, which rounds exactly. Other numbers are left to V8.
 * @param bytes has room for NUMBER_BYTES more
 * @returns the place after the text
 */
export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  const size = Math.abs(value);
  if ((size < MOST && size >= LEAST) || size === 0) {
    for (let decimals = 0; decimals < POWERS.length; decimals++) {
      const power = POWERS[decimals] as number;
      const digits = Math.round(size * power);
      if (digits / power !== size) continue;
      let end = at;
      if (value < 0) bytes[end++] = 0x2d;
      const whole = Math.floor(digits / power);
      let places = 1;
      for (let limit = 10; whole >= limit; limit *= 10) places++;
      end = writeDigits(bytes, end, whole, places);
      if (decimals === 0) return end;
      bytes[end] = 0x2e;
      return writeDigits(bytes, end + 1, digits - whole * power, decimals);
    }
  }
  const text = Number.isFinite(value) ? String(value) : 'null';
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
  return at + text.length;
}

function writeDigits(bytes: Uint8Array, at: number, number: number, places: number): number {
  let rest = number | 0;
  for (let place = at + places - 1; place >= at; place--) {
    const tenth = (rest / 10) | 0;
    bytes[place] = 0x30 + rest - tenth * 10;
    rest = tenth;
  }
  return at + places;
}
