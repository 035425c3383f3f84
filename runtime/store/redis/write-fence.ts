import type { Redis } from 'ioredis';

/** A client as its server knows it: numbers begin anew with each server, an address may be used again. */
interface ServersClient {
  readonly id: string;
  readonly addr: string;
}

/**
 * Keeps writes in order over the loss of a connection. What was sent on the lost one may still be on its way, or lie
 * unread in the server's socket, and would then be done after what the next connection sends: an older write would
 * replace a newer one that was acknowledged. So the server is told to close the lost one before anything is written on
 * the next: what it has not done by then it never will.
 *
 * Source: https://redis.io/docs/latest/commands/client-kill/
 */
export class WriteFence {
  #last: ServersClient | undefined;

  /** Call on a new connection, and write nothing until it is done. @throws what the server refuses, or a lost connection */
  async raise(redis: Redis): Promise<void> {
    const own = parseClient(String(await redis.call('CLIENT', 'INFO')));
    // The first time there is nothing to kill; whether it is allowed is found out all the same.
    const { id, addr } = this.#last ?? own;
    await redis.call('CLIENT', 'KILL', 'ID', id, 'ADDR', addr, 'SKIPME', 'yes');
    this.#last = own;
  }
}

/** Reads `id=7 addr=127.0.0.1:50412 laddr=… name=…`. */
function parseClient(text: string): ServersClient {
  const id = /(?:^| )id=(\d+)/.exec(text)?.[1];
  const addr = /(?:^| )addr=(\S+)/.exec(text)?.[1];
  if (id === undefined || addr === undefined) throw new Error('CLIENT INFO names no client');
  return { id, addr };
}
