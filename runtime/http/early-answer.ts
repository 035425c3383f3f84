import type { IncomingMessage, ServerResponse } from 'node:http';

/** Most bytes of a body that are read after the answer, and longest time for it. */
const MOST_DISCARDED = 256 * 1024;
const LINGER_MS = 1_000;

/**
 * Prepares an answer that goes out before the body of its request is read. A connection that is closed with unread bytes
 * is reset, and the client may lose the answer. A small body is therefore read and discarded, and the connection is kept.
 * With a larger one, or one of unknown length, the connection is closed, but not at once: for a short time the rest is
 * read and discarded, so that the client gets to read the answer.
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

/** Replaces the way in which node closes the connection once the last answer is written. */
function linger(req: IncomingMessage): void {
  const { socket } = req;
  const closeNow = socket.destroySoon.bind(socket);
  let discarded = 0;
  req.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    // Not closed yet: the client may be about to read the answer.
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
