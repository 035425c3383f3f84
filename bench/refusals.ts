import { strict as assert } from 'node:assert';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ApiKey } from '../runtime/serve/access/api-key.js';
import type { HeadCode } from '../runtime/serve/access/head-error.js';
import { createKey, hashOfKey } from '../runtime/serve/access/key-text.js';
import { keysText } from '../runtime/serve/access/keys-file.js';
import { startContestant, usage, type Contestant } from './service/contestants.js';
import { bodiesOf, PROJECT } from './service/data.js';
import type { Refusal } from './service/refuser.js';
import { writeItemsProject } from './support/items-project.js';
import { median, table } from './support/measure.js';

const CLIENTS = 16;
const ROUTE = '/api/v1/items';
/** Headers that node:http adds to each answer. */
const OF_NODE = ['Date', 'Keep-Alive'];
const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/;
/** The number of different requests: a scanner sends each unknown path only once. */
const PATHS = 500;

/** The settings under which each request of the bench is refused, and what is unusual about the requests. */
interface Case {
  readonly env?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly path?: (number: number) => string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What differs from a key that may send the request. */
  readonly key?: Partial<ApiKey>;
  /** Of the ranking; by default 24. */
  readonly candidates?: number;
  /** Sends a part of a request first, and keeps it in flight. */
  readonly isHeld?: boolean;
}

const KEYS = { MILLRACE_AUTH: 'keys' };
const LARGE = { env: { MILLRACE_MAX_RANKING_BYTES: '1024' }, candidates: 100 };

/** Without that of sessions: people open those one by one. */
type MeasuredCode = Exclude<HeadCode, 'csrf_missing'>;

const CASES: Readonly<Record<MeasuredCode, Case>> = {
  overloaded: { env: { MILLRACE_MAX_IN_FLIGHT: '1' }, isHeld: true },
  unknown_host: { headers: { Host: 'evil.example' } },
  foreign_origin: { headers: { Origin: 'https://evil.example' } },
  key_required: { env: KEYS },
  key_invalid: { env: KEYS, headers: { Authorization: `Bearer ${createKey().text}` } },
  key_expired: { env: KEYS, key: { expires: 2_000 } },
  key_revoked: { env: KEYS, key: { revoked: 2_000 } },
  scope_missing: { env: KEYS, key: { scopes: ['features'] } },
  key_not_allowed: { env: KEYS, key: { pipelines: ['others'] } },
  unknown_route: { path: (number) => `/api/v1/nothing${number}` },
  method_not_allowed: { method: 'PUT' },
  body_too_large: LARGE,
  unsupported_media_type: { headers: { 'Content-Type': 'text/plain' } },
};

/**
 * Measures the CPU of each refusal by the head of a request at 16 connections, beside servers by hand that answer every request
 * with the same bytes: one on node:http, one on sockets.
 * @param against another checkout, which is measured in the same rounds
 * @param only a part of the codes of the refusals to measure
 */
export async function refusalsBench(short: boolean, against?: string, only = ''): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  try {
    await writeItemsProject(folder, PROJECT);
    const rows: string[][] = [];
    for (const code of Object.keys(CASES) as MeasuredCode[])
      if (code.includes(only)) rows.push(...(await compare(code, folder, short, against)));
    console.log(
      `\nCPU of a refusal, µs; ${CLIENTS} connections, rankings of 24 candidates (body_too_large: 100)\n`,
    );
    console.log(table(['', 'CPU µs', 'of node:http', 'of sockets'], rows));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function compare(
  code: MeasuredCode,
  folder: string,
  short: boolean,
  against: string | undefined,
): Promise<string[][]> {
  const { env = {}, isHeld = false } = CASES[code];
  const servers: Contestant[] = [];
  const held: Socket[] = [];
  const keysFile = join(folder, 'keys.json');
  const requests = await requestsOf(CASES[code], keysFile);
  try {
    const start = async (name: string, checkout?: string): Promise<void> => {
      const module = join(
        checkout ?? fileURLToPath(new URL('../..', import.meta.url)),
        'dist/bench/service/millrace.js',
      );
      servers.push(
        await startContestant(name, resolve(module), [], {
          MILLRACE_PROJECT: folder,
          MILLRACE_STORE: 'embedded',
          MILLRACE_DATA_DIR: join(folder, `${name}-${code}`),
          MILLRACE_KEYS: env.MILLRACE_AUTH === undefined ? '' : keysFile,
          MILLRACE_RECEIVE_MS: '600000',
          MILLRACE_REQUEST_MS: '600000',
          LOG_LEVEL: 'warn',
          PORT: '0',
          ...env,
        }),
      );
    };
    if (against !== undefined) await start('before', against);
    await start('millrace');
    if (isHeld) for (const { url } of servers) held.push(await hold(url));
    const [request = Buffer.alloc(0)] = requests;
    const told = await answerOf(servers.at(-1)?.url ?? '', request);
    assert.equal((JSON.parse(told.body.join('')) as { code: string }).code, code);
    for (const kind of ['node:http', 'sockets'])
      servers.push(
        await startContestant(kind, fileURLToPath(new URL('./service/refuser.js', import.meta.url)), [
          kind,
          JSON.stringify(told),
        ]),
      );
    for (const { name, url } of servers) assert.deepEqual(await answerOf(url, request), told, name);
    const found = servers.map((): number[] => []);
    for (let round = -2; round < (short ? 4 : 12); round++)
      for (const [i, server] of servers.entries()) {
        const cost = await costOf(server, { status: told.status, requests }, short ? 5_000 : 20_000);
        if (round >= 0) found[i]?.push(cost);
      }
    const costs = found.map((all) => median(all.sort((a, b) => a - b)));
    const [plain = NaN, sockets = NaN] = costs.slice(-2);
    return servers.map(({ name }, i) => {
      const cost = costs[i] ?? NaN;
      return [`${code}, ${name}`, cost.toFixed(1), (cost / plain).toFixed(2), (cost / sockets).toFixed(2)];
    });
  } finally {
    for (const socket of held) socket.destroy();
    for (const { process: child } of servers) child.kill('SIGKILL');
  }
}

/** Returns the requests of a case, and writes the key that they have into the file of keys. */
async function requestsOf(
  { method = 'POST', path = () => ROUTE, headers = {}, key: more, candidates = 24 }: Case,
  keysFile: string,
): Promise<readonly Buffer[]> {
  const { id, text } = createKey();
  const key: ApiKey = { id, name: 'bench', hash: hashOfKey(text), scopes: ['rank'], created: 1_000, ...more };
  await writeFile(keysFile, keysText([key]), { mode: 0o600 });
  const [body = Buffer.alloc(0)] = bodiesOf(2_000, candidates, 1);
  const all = {
    Host: 'localhost',
    Connection: 'keep-alive',
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
    ...(more === undefined ? {} : { Authorization: `Bearer ${text}` }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Array.from({ length: PATHS }, (_, i) =>
    Buffer.concat([Buffer.from(`${method} ${path(i)} HTTP/1.1\r\n${lines.join('')}\r\n`), body]),
  );
}

/** Sends a request whose body never ends, to a route with a long time limit. Resolves once it is in flight. */
async function hold(url: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
  socket.write(
    'POST /api/v1/entities/get HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n',
  );
  while (
    !/^millrace_requests_in_flight\{class="online_features"\} 1$/m.test(
      await (await fetch(`${url}/metrics`)).text(),
    )
  );
  return socket;
}

/** The answer to one request, without the headers of node:http. */
async function answerOf(url: string, request: Buffer): Promise<Refusal> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
  socket.write(request);
  const text = await new Promise<string>((done, fail) => {
    readAnswers(socket, done);
    socket.on('error', fail);
  });
  socket.destroy();
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = lines.map((line) => line.split(/: (.*)/) as [name: string, value: string]);
  const [start = '', rest = ''] = text.slice(end + 4).split(UUID);
  return {
    status: Number(first.split(' ')[1]),
    headers: headers
      .filter(([name, value]) => !OF_NODE.includes(name) && value !== 'keep-alive')
      .map(([name, value]) => [name, name === 'X-Request-Id' ? '' : value]),
    body: [start, rest],
  };
}

/** Calls `take` with each answer that has a Content-Length. */
function readAnswers(socket: Socket, take: (text: string) => void): void {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += String(chunk);
    const head = text.indexOf('\r\n\r\n');
    const length = Number(/^content-length: (\d+)/im.exec(text)?.[1]);
    if (head < 0 || text.length < head + 4 + length) return;
    const whole = text;
    text = '';
    take(whole);
  });
}

/**
 * Sends requests over connections, each after the answer to the one before, and opens another for each that the server closes.
 * @returns CPU µs a request
 */
async function costOf(
  server: Contestant,
  { status, requests }: { readonly status: number; readonly requests: readonly Buffer[] },
  count: number,
): Promise<number> {
  const port = Number(new URL(server.url).port);
  const before = await usage(server.process);
  let sent = 0;
  await Promise.all(
    Array.from(
      { length: CLIENTS },
      () =>
        new Promise<void>((done, fail) => {
          const open = (): void => {
            const socket = connect({ port, host: '127.0.0.1', noDelay: true });
            const next = (): void => {
              if (sent < count) socket.write(requests[sent++ % requests.length] as Buffer);
              else socket.end();
            };
            readAnswers(socket, (text) => {
              if (Number(text.slice(9, 12)) !== status) fail(new Error(`${server.name} answered ${text}`));
              if (/^connection: close\r$/im.test(text)) socket.end();
              else next();
            });
            socket
              .on('connect', next)
              .on('error', fail)
              .on('close', () => {
                if (sent < count) open();
                else done();
              });
          };
          open();
        }),
    ),
  );
  const after = await usage(server.process);
  return (1000 * (after.cpuMs - before.cpuMs)) / count;
}
