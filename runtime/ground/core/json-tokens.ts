const [ZERO, NINE, MINUS, PLUS, DOT] = [0x30, 0x39, 0x2d, 0x2b, 0x2e];

/** The maximum number of characters of a number, because a number is read in one step. */
export const MOST_DIGITS = 1024 * 1024;

/** Returns the offset after an escape, or -1 if it is not valid. */
export function endOfEscape(bytes: Buffer, at: number): number {
  switch (bytes[at + 1]) {
    case 0x22: // "
    case 0x5c: // \
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return at + 2;
    case 0x75: // u
      for (let i = at + 2; i < at + 6; i++) if (!isHex(bytes[i])) return -1;
      return at + 6;
    default:
      return -1;
  }
}

function isHex(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const letter = byte | 0x20;
  return (byte >= ZERO && byte <= NINE) || (letter >= 0x61 && letter <= 0x66);
}

/** Returns the offset after a number, true, false or null, or -1 if there is none. */
export function endOfScalar(bytes: Buffer, at: number, first: number): number {
  if (first === 0x74) return endOfWord(bytes, at, 'true');
  if (first === 0x66) return endOfWord(bytes, at, 'false');
  if (first === 0x6e) return endOfWord(bytes, at, 'null');
  const from = first === MINUS ? at + 1 : at;
  let end = bytes[from] === ZERO ? from + 1 : endOfDigits(bytes, from);
  if (end === from) return -1;
  if (bytes[end] === DOT) {
    const fraction = endOfDigits(bytes, end + 1);
    if (fraction === end + 1) return end;
    end = fraction;
  }
  if (((bytes[end] ?? 0) | 0x20) !== 0x65) return end;
  const sign = bytes[end + 1];
  const digits = sign === PLUS || sign === MINUS ? end + 2 : end + 1;
  const exponent = endOfDigits(bytes, digits);
  return exponent === digits ? end : exponent;
}

function endOfDigits(bytes: Buffer, from: number): number {
  const limit = Math.min(bytes.length, from + MOST_DIGITS + 1);
  let at = from;
  while (at < limit && (bytes[at] as number) >= ZERO && (bytes[at] as number) <= NINE) at++;
  return at;
}

function endOfWord(bytes: Buffer, at: number, word: string): number {
  for (let i = 1; i < word.length; i++) if (bytes[at + i] !== word.charCodeAt(i)) return -1;
  return at + word.length;
}
