import type { Redis } from 'ioredis';

/** The id and address of a client. Both are needed: client ids restart with the server, and addresses are reused. */
interface ServersClient {
  readonly id: string;
  readonly addr: string;
}

/**
 * Keeps writes in order when a connection is lost. Commands of the lost connection may still be in the network, or unread
 * in the server's socket. The server could execute them after those of the next connection, and an older write would replace
 * a newer, acknowledged one. CLIENT KILL therefore closes the lost connection before the next connection sends a write.
 *
 * Source: https://redis.io/docs/latest/commands/client-kill/
 */
export class WriteFence {
  #last: ServersClient | undefined;

  /**
   * Call it on a new connection and await it before the first write.
   * @throws the error of the server if it refuses the command; Error if the connection is lost
   */
  async raise(redis: Redis): Promise<void> {
    const own = parseClient(String(await redis.call('CLIENT', 'INFO')));
    // The first connection has nothing to kill, but the command still checks the permission.
    const { id, addr } = this.#last ?? own;
    await redis.call('CLIENT', 'KILL', 'ID', id, 'ADDR', addr, 'SKIPME', 'yes');
    this.#last = own;
  }
}

/** The warning if the server refuses the commands of the fence. */
export function unfenced(address: string, error: Error): string {
  return (
    `Redis at ${address} does not let this user close a client of its own (${error.message}): an upload that was given ` +
    'up may then be done after a later one. Give the user +client|info and +client|kill'
  );
}

/** Reads `id=7 addr=127.0.0.1:50412 laddr=… name=…`. */
function parseClient(text: string): ServersClient {
  const id = /(?:^| )id=(\d+)/.exec(text)?.[1];
  const addr = /(?:^| )addr=(\S+)/.exec(text)?.[1];
  if (id === undefined || addr === undefined) throw new Error('CLIENT INFO names no client');
  return { id, addr };
}
