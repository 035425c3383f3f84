import { connect, type Socket } from 'node:net';
import { randomNumbers } from '../../support/random-ensemble.js';
import { rankingBodies, ROUTE } from './ranking-project.js';

/** A request to send load. With `rate` 0, each of `clients` connections sends after each answer (closed loop). */
export interface LoadOrder {
  readonly port: number;
  /** Requests per second at random times (Poisson), independent of the answers (open loop). */
  readonly rate: number;
  readonly seconds: number;
  readonly clients: number;
  /** Whether each request opens a connection of its own. */
  readonly isOneShot?: boolean;
  /** By default 100. */
  readonly candidates?: number;
}

export interface LoadResult {
  readonly sent: number;
  /** Latencies of the answers with status 200: milliseconds from the scheduled time to the last byte, sorted. */
  readonly okMs: readonly number[];
  /** Latencies of the answers with status 503, sorted. */
  readonly refusedMs: readonly number[];
  /** Number of requests whose connection was reset; only if each has its own. */
  readonly reset: number;
  /** Number of answers with another status and of broken connections. */
  readonly failed: number;
  /** Number of requests without an answer at the end. */
  readonly unanswered: number;
  /** Number of connections at the end. */
  readonly connections: number;
  /** Maximum delay of the generator itself, milliseconds. */
  readonly latest: number;
}

/** Maximum wait for answers after the last request, milliseconds. */
const TAIL_MS = 5_000;
/** Time to open the connections, milliseconds. */
const CONNECT_MS = 300;

/** Creates requests with so many candidates. */
function requestsOf(candidates: number | undefined, isOneShot: boolean): readonly Buffer[] {
  return rankingBodies(32, candidates).map((body) =>
    Buffer.from(
      `POST ${ROUTE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `${isOneShot ? 'Connection: close\r\n' : ''}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    ),
  );
}

/** One connection. It reads one answer at a time and supports only answers with a Content-Length. */
class Client {
  readonly #socket: Socket;
  #text = '';
  #due = 0;
  isBusy = false;
  /** Whether the service closes the connection after its last answer. */
  isLast = false;

  constructor(
    port: number,
    private readonly onAnswer: (client: Client, status: number, ms: number) => void,
    private readonly onBroken: (client: Client) => void,
  ) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (chunk) => this.#read(String(chunk)));
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => this.onBroken(this));
  }

  send(request: Buffer, due: number): void {
    this.isBusy = true;
    this.#due = due;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: string): void {
    this.#text += chunk;
    const head = this.#text.indexOf('\r\n\r\n');
    if (head < 0) return;
    const at = this.#text.indexOf('Content-Length: ');
    const length = Number.parseInt(this.#text.slice(at + 16, at + 26), 10);
    if (this.#text.length < head + 4 + length) return;
    const status = Number(this.#text.slice(9, 12));
    this.isLast = this.#text.slice(0, head).includes('\r\nConnection: close');
    this.#text = '';
    this.isBusy = false;
    this.onAnswer(this, status, performance.now() - this.#due);
  }
}

function run({
  port,
  rate,
  seconds,
  clients,
  isOneShot = false,
  candidates,
}: LoadOrder): Promise<LoadResult> {
  const requests = requestsOf(candidates, isOneShot);
  return new Promise((resolve) => {
    const okMs: number[] = [];
    const refusedMs: number[] = [];
    let failed = 0;
    let reset = 0;
    let sent = 0;
    let pending = 0;
    let hasEnded = false;
    const all = new Set<Client>();
    const free: Client[] = [];
    const random = randomNumbers(17);

    const open = (): Client => {
      const client = new Client(port, onAnswer, onBroken);
      all.add(client);
      return client;
    };
    const onAnswer = (client: Client, status: number, ms: number): void => {
      pending--;
      if (status === 200) okMs.push(ms);
      else if (status === 503) refusedMs.push(ms);
      else failed++;
      const next = client.isLast ? undefined : client;
      if (rate === 0 && performance.now() < end) send(next ?? open(), performance.now());
      else if (next !== undefined) free.push(next);
      if (hasEnded && pending === 0) finish();
    };
    const onBroken = (client: Client): void => {
      all.delete(client);
      const index = free.indexOf(client);
      if (index >= 0) free.splice(index, 1);
      if (!client.isBusy) return;
      pending--;
      if (!isOneShot) failed++;
      else {
        reset++;
        if (rate === 0 && performance.now() < end) send(open(), performance.now());
      }
      if (hasEnded && pending === 0) finish();
    };
    const send = (client: Client, due: number): void => {
      pending++;
      client.send(requests[sent++ % requests.length] as Buffer, due);
    };
    let latest = 0;
    let finished = false;
    const finish = (): void => {
      if (finished) return;
      finished = true;
      const connections = all.size;
      const unanswered = pending;
      for (const client of all) {
        client.isBusy = false;
        client.close();
      }
      const ascending = (a: number, b: number): number => a - b;
      okMs.sort(ascending);
      refusedMs.sort(ascending);
      resolve({ sent, okMs, refusedMs, reset, failed, unanswered, connections, latest });
    };
    const stop = (): void => {
      hasEnded = true;
      if (pending === 0) finish();
      else setTimeout(finish, TAIL_MS);
    };

    let end = performance.now() + seconds * 1000;
    if (rate === 0) {
      for (let i = 0; i < clients; i++) send(open(), performance.now());
      setTimeout(stop, seconds * 1000);
      return;
    }
    if (!isOneShot) for (let i = 0; i < clients; i++) free.push(open());
    // The connections are open before the schedule begins, like those of a load balancer.
    let next = performance.now() + CONNECT_MS;
    end = next + seconds * 1000;
    const tick = (): void => {
      const now = performance.now();
      latest = Math.max(latest, now - next);
      while (next <= now && next < end) {
        send(free.pop() ?? open(), next);
        next += (-Math.log(1 - random()) * 1000) / rate;
      }
      if (next < end) setTimeout(tick, Math.max(1, Math.min(next - now, 5)));
      else stop();
    };
    tick();
  });
}

process.on('message', (order: LoadOrder) => {
  void run(order).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());
