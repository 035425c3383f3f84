import { connect, type Socket } from 'node:net';

/** A client that sends bytes as a test says, and keeps what comes back. */
export interface RawClient {
  readonly socket: Socket;
  /** Everything received so far. */
  text(): string;
  /** Resolves once the text matches, or the connection is closed. */
  until(pattern: RegExp): Promise<string>;
  /** Milliseconds from the connection to its end. */
  readonly closed: Promise<number>;
  /** The error that broke the connection, if one did. */
  error(): NodeJS.ErrnoException | undefined;
}

export function rawClient(port: number): RawClient {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const started = performance.now();
  let text = '';
  let error: NodeJS.ErrnoException | undefined;
  let isClosed = false;
  let look = (): void => undefined;
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => {
    text += String(chunk);
    look();
  });
  socket.on('error', (thrown) => (error = thrown));
  const closed = new Promise<number>((resolve) => {
    socket.on('close', () => {
      isClosed = true;
      look();
      resolve(performance.now() - started);
    });
  });
  return {
    socket,
    text: () => text,
    until: (pattern) =>
      new Promise((resolve) => {
        look = () => {
          if (pattern.test(text) || isClosed) resolve(text);
        };
        look();
      }),
    closed,
    error: () => error,
  };
}
