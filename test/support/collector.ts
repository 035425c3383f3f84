import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the collector got. */
export interface Collected {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** How the collector answers the next requests. `hang`: it does not answer. */
export type Reply =
  'hang' | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

/** An HTTP server that keeps the bodies of POST requests. */
export interface Collector {
  readonly port: number;
  readonly url: string;
  /** All requests that were answered with 2xx. */
  readonly taken: Collected[];
  /** The number of all requests. */
  requests: number;
  /** Used for each request; by default 204. */
  reply: (request: Collected) => Reply;
  close(): Promise<void>;
}

export async function startCollector(port = 0): Promise<Collector> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const got = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts) };
      collector.requests++;
      const reply = collector.reply(got);
      if (reply === 'hang') return;
      if (reply.status < 300) collector.taken.push(got);
      response.writeHead(reply.status, reply.headers).end(reply.body);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const at = (server.address() as AddressInfo).port;
  const collector: Collector = {
    port: at,
    url: `http://127.0.0.1:${at}`,
    taken: [],
    requests: 0,
    reply: () => ({ status: 204 }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return collector;
}
