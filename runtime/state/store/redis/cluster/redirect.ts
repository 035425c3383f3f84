import type { MasterAddress } from '../../../../project/settings/redis-address.js';

/** A redirection reply: another node has the key, permanently (MOVED) or for one command (ASK). */
export interface Redirect {
  readonly slot: number;
  readonly to: MasterAddress;
  readonly asking: boolean;
}

/**
 * Reads `MOVED 3999 127.0.0.1:6381` and `ASK 3999 127.0.0.1:6381`.
 * @param from the node that replied; a reply without a host means the same host
 */
export function redirectOf(reply: unknown, from: MasterAddress): Redirect | undefined {
  if (!(reply instanceof Error)) return undefined;
  const match = /^(MOVED|ASK) (\d{1,5}) (\S*):(\d{1,5})$/.exec(reply.message);
  if (match === null) return undefined;
  const host = match[3] === '' || match[3] === '?' ? from.host : (match[3] ?? from.host);
  return { slot: Number(match[2]), to: { host, port: Number(match[4]) }, asking: match[1] === 'ASK' };
}
