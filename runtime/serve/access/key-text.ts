import { createHash, randomBytes } from 'node:crypto';

/**
 * The text of a key is `mr_<id>_<secret><checksum>`. The parts are base62, so a double click selects a whole key, and no
 * URL or shell changes it. Scanners for secrets find keys by the prefix. The id names the key in lists. The checksum
 * shows typing errors before a key is sent.
 */
const PREFIX = 'mr_';
const ID_LENGTH = 8;
/** 62^43 > 2^256: the shortest text for 256 bits. */
const SECRET_LENGTH = 43;
const SECRET_BYTES = 32;
/** 62^6 > 2^32. */
const CHECKSUM_LENGTH = 6;
const CHECKSUM_BYTES = 4;
/** Random bytes for an id. The id is not secret; it is long enough that no two keys of a file share one by chance. */
const ID_BYTES = 16;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM = new RegExp(
  `^${PREFIX}([0-9A-Za-z]{${ID_LENGTH}})_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`,
);
const ID = new RegExp(`^[0-9A-Za-z]{${ID_LENGTH}}$`);

/** The length of every key. */
export const KEY_LENGTH = PREFIX.length + ID_LENGTH + 1 + SECRET_LENGTH + CHECKSUM_LENGTH;

/** A key that was just created. Only its hash is stored. */
export interface NewKey {
  readonly id: string;
  readonly text: string;
}

/** Creates a key with 256 random bits. */
export function createKey(random: (size: number) => Buffer = randomBytes): NewKey {
  const id = base62(random(ID_BYTES), ID_LENGTH);
  const start = `${PREFIX}${id}_${base62(random(SECRET_BYTES), SECRET_LENGTH)}`;
  return { id, text: start + checksumOf(start) };
}

/**
 * The hash under which a key is stored. A slow hash (bcrypt, scrypt) would add nothing: it protects passwords, which
 * can be guessed. Nobody can try 2^256 secrets at any speed, and each request would pay for the slowness.
 */
export function hashOfKey(text: string): Buffer {
  return Buffer.from(hashTextOfKey(text), 'latin1');
}

/** The bytes of the hash as the characters of a text. */
export function hashTextOfKey(text: string): string {
  return createHash('sha256').update(text).digest('binary');
}

/**
 * Says what is wrong with the form of a key; undefined if nothing is. Only commands call this, for the keys of their
 * own user. The service never says it: its answers do not depend on which part of a key is wrong.
 */
export function keyTextProblem(text: string): string | undefined {
  if (!FORM.test(text)) {
    if (!text.startsWith(PREFIX)) return `a key starts with ${PREFIX}`;
    if (text.length !== KEY_LENGTH)
      return `a key has ${KEY_LENGTH} characters, and this one has ${text.length}`;
    return 'it has characters that no key has';
  }
  const start = text.slice(0, -CHECKSUM_LENGTH);
  return text.endsWith(checksumOf(start))
    ? undefined
    : 'its checksum is wrong, so a character of it is wrong';
}

/** The id within a key, whether the rest of it is right or not. */
export function idOfKey(text: string): string | undefined {
  return FORM.exec(text)?.[1];
}

export function isKeyId(text: string): boolean {
  return ID.test(text);
}

function checksumOf(start: string): string {
  return base62(hashOfKey(start).subarray(0, CHECKSUM_BYTES), CHECKSUM_LENGTH);
}

/** The last `length` digits of a number, the most significant first. */
function base62(bytes: Buffer, length: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let i = 0; i < length; i++) {
    text = (DIGITS[Number(rest % 62n)] ?? '') + text;
    rest /= 62n;
  }
  return text;
}
