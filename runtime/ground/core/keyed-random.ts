import { createHmac } from 'node:crypto';

const PURPOSE = 'explore';

/**
 * Uniform numbers in [0, 1) that depend on a text and a secret. Clients that choose the text cannot choose the numbers.
 * Block n is the HMAC-SHA256 of the purpose, the text and n, with a zero byte between them. It gives four numbers: the
 * first 53 bits of each 8 bytes, divided by 2^53.
 * @param salt the secret; the key of the HMAC
 */
export function keyedRandom(salt: string, text: string): () => number {
  let block = Buffer.alloc(0);
  let at = 0;
  let blocks = 0;
  return () => {
    if (at === block.length) {
      block = createHmac('sha256', salt).update(`${PURPOSE}\u0000${text}\u0000${blocks++}`).digest();
      at = 0;
    }
    const bits = block.readBigUInt64BE(at) >> 11n;
    at += 8;
    return Number(bits) / 2 ** 53;
  };
}
