import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** What became of the requests of some clients. */
export interface Tally {
  /** Answers that arrived whole. */
  answered: number;
  /** Of these, the ones with a status other than 200. */
  failed: number;
  /** Answers that said `Connection: close`. */
  closing: number;
  /**
   * A byte of the request was written on an established connection, before the answer that said `Connection: close`, and
   * no answer came; or the connection was reset before that.
   */
  lost: number;
  /** Connections that were refused, because nobody listened. */
  refused: number;
  /** How the lost requests ended: the error code, or `FIN`. */
  readonly causes: Map<string, number>;
}

export function newTally(): Tally {
  return { answered: 0, failed: 0, closing: 0, lost: 0, refused: 0, causes: new Map() };
}

export interface ClientOptions {
  readonly port: number;
  /** The request, head and body, as it is written. */
  readonly request: Buffer;
  /** Milliseconds between an answer and the next request. */
  readonly thinkMs: () => number;
  /** Milliseconds between the end of a connection and the next one. */
  readonly reconnectMs?: () => number;
  readonly stop: AbortSignal;
  /** Told of each answer, with the time that its request was written. */
  readonly answered?: (status: number, wroteAt: number) => void;
}

/** Waits this long before it connects again, milliseconds. */
const RECONNECT_MS = 10;

/**
 * A client that keeps one connection alive, sends one request at a time and accounts for every one of them. It works on
 * the bytes of the socket, because HTTP clients retry requests by themselves. It ends when it is stopped and its last
 * request is answered or lost.
 */
export async function runClient(options: ClientOptions, tally: Tally): Promise<void> {
  const { port, stop } = options;
  while (!stop.aborted) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('error', () => undefined);
    const failure = await once(socket, 'connect').then(
      () => undefined,
      (error: unknown) => (error as NodeJS.ErrnoException).code ?? 'error',
    );
    if (failure === undefined) await useConnection(socket, options, tally);
    else if (failure === 'ECONNREFUSED') tally.refused++;
    else lose(tally, failure);
    socket.destroy();
    await pause(failure === undefined ? (options.reconnectMs?.() ?? RECONNECT_MS) : RECONNECT_MS);
  }
}

function lose(tally: Tally, cause: string): void {
  const { causes } = tally;
  tally.lost++;
  causes.set(cause, (causes.get(cause) ?? 0) + 1);
}

/** Sends requests until the connection is closed by an answer, by the server, or because the client is stopped. */
async function useConnection(
  socket: Socket,
  { request, thinkMs, stop, answered }: ClientOptions,
  tally: Tally,
): Promise<void> {
  const answers = new AnswerReader(socket);
  while (!stop.aborted && !answers.ended) {
    const wroteAt = performance.now();
    socket.write(request);
    const answer = await answers.next();
    if (typeof answer === 'string') {
      lose(tally, answer);
      return;
    }
    tally.answered++;
    if (answer.status !== 200) tally.failed++;
    answered?.(answer.status, wroteAt);
    if (answer.close) {
      tally.closing++;
      return;
    }
    const ms = thinkMs();
    if (ms > 0) await Promise.race([pause(ms), answers.end]);
  }
}

interface Answer {
  readonly status: number;
  readonly close: boolean;
}

/** Reads answers with a Content-Length. */
class AnswerReader {
  ended = false;
  readonly end: Promise<void>;
  #text = Buffer.alloc(0);
  #cause = 'FIN';
  #wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.end = new Promise((resolve) => {
      const over = (): void => {
        this.ended = true;
        this.#wake();
        resolve();
      };
      socket.on('error', ({ code = 'error' }: NodeJS.ErrnoException) => {
        this.#cause = code;
        over();
      });
      socket.once('end', over).once('close', over);
    });
    socket.on('data', (chunk) => {
      this.#text = this.#text.length === 0 ? chunk : Buffer.concat([this.#text, chunk]);
      this.#wake();
    });
  }

  /** The next answer, or why there is none. */
  async next(): Promise<Answer | string> {
    for (;;) {
      const answer = this.#take();
      if (answer !== undefined) return answer;
      if (this.ended) return this.#cause;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #take(): Answer | undefined {
    const headEnd = this.#text.indexOf('\r\n\r\n');
    if (headEnd < 0) return undefined;
    const head = this.#text.toString('latin1', 0, headEnd);
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
    const end = headEnd + 4 + length;
    if (this.#text.length < end) return undefined;
    this.#text = this.#text.subarray(end);
    return { status: Number(head.slice(9, 12)), close: /^connection: *close/im.test(head) };
  }
}

/** A POST with a body of JSON, as bytes. @param more further header lines */
export function postBytes(path: string, body: object, more: readonly string[] = []): Buffer {
  const text = JSON.stringify(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...more,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${text}`);
}
