import { hash } from 'node:crypto';

/** The bits of a SHA-256. */
const BLOCK = 256;

/**
 * The coins of a team draft, one for each round from 0: true if control picks first. Coin r is a bit of the SHA-256 of
 * `draft`, the experiment, the request id and the number of the block, floor(r / 256) as decimal digits, in UTF-8 with a
 * zero byte between them. It is bit r mod 256, the highest bit of each byte first. So all pages of one request id have the
 * same coins, and no other request or experiment shares them.
 */
export function draftCoins(experiment: string, requestId: string): (round: number) => boolean {
  const blocks: string[] = [];
  return (round) => {
    const block = Math.floor(round / BLOCK);
    const bits = (blocks[block] ??= hash(
      'sha256',
      ['draft', experiment, requestId, String(block)].join('\u0000'),
      'binary',
    ));
    const bit = round % BLOCK;
    return ((bits.charCodeAt(bit >> 3) >> (7 - (bit & 7))) & 1) === 1;
  };
}
