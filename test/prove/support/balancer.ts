import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Interval at which the balancer polls /readyz of each instance, milliseconds. */
export const PROBE_MS = 100;

/** A minimal TCP load balancer. It forwards each new connection to a ready instance. */
export interface Balancer {
  readonly port: number;
  /** The ports of the instances. */
  readonly instances: Set<number>;
  /** True if the instance was ready at the last poll. */
  isReady(port: number): boolean;
  /** Number of connections that arrived while no instance was ready. */
  turnedAway(): number;
  close(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  const instances = new Set<number>();
  const ready = new Set<number>();
  const sockets = new Set<Socket>();
  let next = 0;
  let turnedAway = 0;
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const ports = [...ready];
    const port = ports[next++ % ports.length];
    if (port === undefined) {
      turnedAway++;
      client.destroy();
      return;
    }
    const instance = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    for (const [from, to] of [
      [client, instance],
      [instance, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.resetAndDestroy());
      from.once('close', () => sockets.delete(from));
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = new AbortController();
  const probing = probe(instances, ready, stop.signal);
  return {
    port: (server.address() as AddressInfo).port,
    instances,
    isReady: (port) => ready.has(port),
    turnedAway: () => turnedAway,
    async close() {
      stop.abort();
      await probing;
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function probe(instances: ReadonlySet<number>, ready: Set<number>, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    for (const port of ready) if (!instances.has(port)) ready.delete(port);
    await Promise.all(
      [...instances].map(async (port) => {
        const answer = await fetch(`http://127.0.0.1:${port}/readyz`, {
          headers: { connection: 'close' },
          signal: AbortSignal.timeout(1000),
        }).catch(() => undefined);
        await answer?.arrayBuffer();
        if (answer?.status === 200) ready.add(port);
        else ready.delete(port);
      }),
    );
    await pause(PROBE_MS);
  }
}
