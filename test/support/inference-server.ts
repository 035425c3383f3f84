import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { sumOfRows } from './inference.js';

/** How the server answers one inference request. */
export type Behaviour = (answer: ServerResponse, body: string, request: IncomingMessage) => void;

/** A server of the Open Inference Protocol on this machine. Its one model, `sum`, adds the numbers of each row. */
export interface InferenceServer {
  readonly port: number;
  readonly url: string;
  /** How to answer the inference requests, in order. The last behaviour repeats. */
  behaviours: Behaviour[];
  /** The answer of GET /v2/models/sum; undefined means 404. */
  metadata: object | undefined;
  ready: boolean;
  /** Bodies of the inference requests. */
  readonly bodies: string[];
  readonly requests: IncomingMessage[];
  /** The open connections. */
  readonly open: ReadonlySet<Socket>;
  /** The maximum number of concurrent connections so far. */
  readonly mostOpen: number;
  close(): Promise<void>;
}

export async function startInferenceServer(): Promise<InferenceServer> {
  const open = new Set<Socket>();
  let mostOpen = 0;
  const bodies: string[] = [];
  const requests: IncomingMessage[] = [];
  const server = createServer((request, answer) => {
    requests.push(request);
    const { url = '' } = request;
    if (request.method === 'POST') {
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => {
        bodies.push(body);
        const [behaviour = sum] = state.behaviours;
        if (state.behaviours.length > 1) state.behaviours.shift();
        behaviour(answer, body, request);
      });
    } else if (url === '/v2/health/ready') answer.writeHead(state.ready ? 200 : 503).end();
    else if (state.metadata === undefined) json(answer, { error: 'no such model' }, 404);
    else json(answer, state.metadata);
  });
  server.on('connection', (socket) => {
    open.add(socket);
    mostOpen = Math.max(mostOpen, open.size);
    socket.on('close', () => open.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const state: InferenceServer = {
    port,
    url: `http://127.0.0.1:${port}`,
    behaviours: [],
    metadata: { name: 'sum' },
    ready: true,
    bodies,
    requests,
    open,
    get mostOpen() {
      return mostOpen;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return state;
}

export function json(answer: ServerResponse, body: object, status = 200): void {
  answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Sends a correct answer. */
export const sum: Behaviour = (answer, body) =>
  json(answer, sumOfRows(JSON.parse(body) as Parameters<typeof sumOfRows>[0]));

/** Sends a correct answer with changed outputs. */
const changed =
  (change: (output: Record<string, unknown>, data: unknown[]) => void): Behaviour =>
  (answer, body) => {
    const right = sumOfRows(JSON.parse(body) as Parameters<typeof sumOfRows>[0]);
    for (const output of right.outputs as Record<string, unknown>[]) {
      output['data'] = [...(output['data'] as unknown[])];
      change(output, output['data'] as unknown[]);
    }
    json(answer, right);
  };

/** The ways in which a model server can fail. */
export const FAULTS: Readonly<Record<string, Behaviour>> = {
  'never answers': () => undefined,
  'answers 500': (answer) => json(answer, { error: 'CUDA out of memory' }, 500),
  'sends one byte at a time': (answer) => {
    answer.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => answer.write(' '), 5);
    answer.on('close', () => clearInterval(timer));
  },
  'sends garbage': (answer) =>
    answer.writeHead(200, { 'content-type': 'application/json' }).end('<html>not json'),
  'sends HTML': (answer) => answer.writeHead(200, { 'content-type': 'text/html' }).end('{}'),
  'does not speak HTTP': (answer) => answer.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'),
  'sends a huge body': (answer) => {
    answer.writeHead(200, { 'content-type': 'application/json' });
    const part = ' '.repeat(65_536);
    const more = (): void => {
      while (!answer.destroyed && answer.write(part));
      if (!answer.destroyed) answer.once('drain', more);
    };
    more();
  },
  'sends NaN': (answer, body) => {
    const right = JSON.stringify(sumOfRows(JSON.parse(body) as Parameters<typeof sumOfRows>[0]));
    answer
      .writeHead(200, { 'content-type': 'application/json' })
      .end(right.replace(/"data":\[[^,\]]+/, '"data":[NaN'));
  },
  'sends a number that is too large': (answer, body) => {
    const right = JSON.stringify(sumOfRows(JSON.parse(body) as Parameters<typeof sumOfRows>[0]));
    answer
      .writeHead(200, { 'content-type': 'application/json' })
      .end(right.replace(/"data":\[[^,\]]+/, '"data":[1e999'));
  },
  'sends null': changed((_output, data) => (data[0] = null)),
  'sends a text': changed((_output, data) => (data[0] = '1')),
  'sends too few scores': changed((output, data) => {
    data.pop();
    output['shape'] = [data.length, 1];
  }),
  'sends too many scores': changed((output, data) => {
    data.push(1);
    output['shape'] = [data.length, 1];
  }),
  'sends fewer scores than its shape states': changed((_output, data) => data.pop()),
  'sends another output': changed((output) => (output['name'] = 'other')),
  'sends two numbers per row': changed((output, data) => {
    output['shape'] = [data.length, 2];
    data.push(...data);
  }),
  'sends texts': changed((output) => (output['datatype'] = 'BYTES')),
  'sends no outputs': (answer) => json(answer, {}),
  'closes the socket': (answer) => answer.socket?.destroy(),
  'closes the socket in the middle of the body': (answer) => {
    answer.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    answer.write('{"outputs":');
    setTimeout(() => answer.socket?.destroy(), 5);
  },
  'redirects to another host': (answer) =>
    answer.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
};
