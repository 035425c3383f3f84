import type { IncomingMessage, ServerResponse } from 'node:http';

/** The limits for reading the rest of a body after the answer: bytes and time. */
const MOST_DISCARDED = 256 * 1024;
const LINGER_MS = 1_000;

/**
 * Prepares an answer that is sent before the body of its request is read. If a connection is closed with unread bytes,
 * it is reset, and the client may lose the answer. A small body is therefore read and discarded, and the connection is
 * kept. After a larger body, or one of unknown length, the connection is closed. Before that, the rest is read and
 * discarded for a short time, so that the client can read the answer.
 * @returns whether the answer needs the header `Connection: close`
 */
export function prepareEarlyAnswer(req: IncomingMessage, res: ServerResponse): boolean {
  if (req.complete) return false;
  const { headers } = req;
  const isChunked = headers['transfer-encoding'] !== undefined;
  const length = Number(headers['content-length'] ?? 0);
  if (!isChunked && length === 0) return false;
  const mayNotCome = headers.expect !== undefined;
  if (!isChunked && !mayNotCome && length <= MOST_DISCARDED && res.getHeader('Connection') !== 'close') {
    req.resume();
    return false;
  }
  linger(req);
  return true;
}

/** Replaces Node's way of closing the connection after the last answer is written. */
function linger(req: IncomingMessage): void {
  const { socket } = req;
  const closeNow = socket.destroySoon.bind(socket);
  let discarded = 0;
  req.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    // The connection stays open, because the client may still be reading the answer.
    if (discarded >= MOST_DISCARDED) req.pause();
  });
  req.resume();
  socket.destroySoon = () => {
    if (req.complete) {
      closeNow();
      return;
    }
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
    req.once('end', closeNow);
  };
}
