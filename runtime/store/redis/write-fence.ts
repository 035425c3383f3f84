import type { Redis } from 'ioredis';

/** A client as its server knows it. Both are needed: each server starts ids again, and addresses are reused. */
interface ServersClient {
  readonly id: string;
  readonly addr: string;
}

/**
 * Keeps writes in order when a connection is lost. Commands of the lost connection may still be in the network, or unread
 * in the server's socket. The server could execute them after those of the next connection, and an older write would replace
 * a newer, acknowledged one. So the server is told to close the lost connection before anything is written on the next one.
 *
 * Source: https://redis.io/docs/latest/commands/client-kill/
 */
export class WriteFence {
  #last: ServersClient | undefined;

  /** Call on a new connection, and wait for it before the first write. @throws what the server refuses, or a lost connection */
  async raise(redis: Redis): Promise<void> {
    const own = parseClient(String(await redis.call('CLIENT', 'INFO')));
    // The first time there is nothing to kill, but this checks the permission.
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
