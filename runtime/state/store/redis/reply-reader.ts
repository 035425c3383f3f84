import type { PendingReply } from './pending-reply.js';

const PLUS = 43;
const MINUS = 45;
const STAR = 42;
const DOLLAR = 36;
const ZERO = 48;
const CR = 13;
const LF = 10;

/** Maximum bytes of a value. Redis accepts no larger value unless `proto-max-bulk-len` is raised. */
const MOST_VALUE = 1024 * 1024 * 1024;
/** Maximum bytes of the head of a value or list: its type, a length and the line end. */
const MOST_HEAD = 16;
/** Maximum bytes of a line, such as an error. */
const MOST_LINE = 64 * 1024;

/** The unit is incomplete and its length is unknown. Any other -n means that its length is n bytes. */
const UNKNOWN = -1;

/** The server or a proxy sent bytes that are not a valid reply. */
export class GarbledReplyError extends Error {
  constructor(what: string) {
    super(`its reply cannot be understood: ${what}`);
    this.name = 'GarbledReplyError';
  }
}

/** Undefined for the reply `OK` (text or bytes); otherwise the reason why a write is not confirmed. */
export function unconfirmed(reply: unknown): Error | undefined {
  if (reply instanceof Error) return reply;
  const text = Buffer.isBuffer(reply) ? reply.toString('latin1') : reply;
  return text === 'OK' ? undefined : new GarbledReplyError('a write was not answered with OK');
}

/**
 * Parses the replies to read commands from the bytes of a connection, in pieces of any size. A value is copied only if
 * it spans two pieces. It supports only the parts of the protocol that these replies use, and rejects the rest.
 *
 * Source: https://redis.io/docs/latest/develop/reference/protocol-spec/ (RESP2)
 */
export class ReplyReader {
  #pending: PendingReply[] = [];
  /** Index into `#pending` of the reply that is being read. */
  #at = 0;
  /** The start of an incomplete unit, and the number of its bytes so far. */
  #held = Buffer.alloc(0);
  #heldBytes = 0;
  /** The length that `#head` has read; -1 for null. */
  #length = 0;

  /** Adds a reply to the end of the expected ones. */
  expect(reply: PendingReply): Promise<void> {
    this.#pending.push(reply);
    return reply.promise;
  }

  /**
   * Reads a piece. Its memory must not change afterwards.
   * @throws GarbledReplyError; the caller must then fail all pending replies and stop reading
   */
  read(piece: Buffer): void {
    let at = this.#heldBytes > 0 ? this.#resume(piece) : 0;
    while (at < piece.length) {
      const end = this.#unit(piece, at);
      if (end < 0) {
        this.#hold(piece, at, piece.length, end);
        return;
      }
      at = end;
    }
  }

  /** Fails all pending replies. */
  fail(error: Error): void {
    const pending = this.#pending.slice(this.#at);
    this.#pending = [];
    this.#at = 0;
    for (const reply of pending) reply.fail(error);
  }

  /** Completes the held unit; returns the number of bytes taken from the piece. */
  #resume(piece: Buffer): number {
    let at = 0;
    for (;;) {
      const held = this.#held.subarray(0, this.#heldBytes);
      const end = this.#unit(held, 0);
      if (end >= 0) {
        this.#held = Buffer.alloc(0);
        this.#heldBytes = 0;
        return at;
      }
      if (at === piece.length) return at;
      const next = end === UNKNOWN ? lineEnd(piece, at) : at - end - held.length;
      const until = Math.min(piece.length, next);
      this.#hold(piece, at, until, end);
      at = until;
    }
  }

  /** Appends bytes to the held unit. The buffer grows with the received bytes, not with the announced length. */
  #hold(piece: Buffer, start: number, end: number, wanted: number): void {
    const bytes = this.#heldBytes + end - start;
    if (bytes > this.#held.length) {
      const larger = Buffer.allocUnsafeSlow(
        wanted === UNKNOWN ? bytes + MOST_HEAD : Math.max(bytes, Math.min(-wanted, 2 * bytes)),
      );
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    piece.copy(this.#held, this.#heldBytes, start, end);
    this.#heldBytes = bytes;
  }

  /** Reads the head of a list, a value or a line; returns its end offset, or a negative number if incomplete (UNKNOWN). */
  #unit(bytes: Buffer, at: number): number {
    const reply = this.#pending[this.#at];
    if (reply === undefined) throw new GarbledReplyError('nothing was asked');
    switch (bytes[at]) {
      case DOLLAR:
        return this.#value(reply, bytes, at);
      case STAR: {
        const end = this.#head(bytes, at);
        if (end >= 0) this.#taken(reply, reply.list(this.#length), 'a list');
        return end;
      }
      case PLUS:
      case MINUS:
        return this.#line(reply, bytes, at);
      default:
        throw new GarbledReplyError(`a reply of type ${String(bytes[at])}`);
    }
  }

  #value(reply: PendingReply, bytes: Buffer, at: number): number {
    const start = this.#head(bytes, at);
    if (start < 0) return start;
    if (this.#length < 0) {
      this.#taken(reply, reply.value(null, 0, 0), 'a value');
      return start;
    }
    const end = start + this.#length;
    if (end + 2 > bytes.length) return at - end - 2;
    if (bytes[end] !== CR || bytes[end + 1] !== LF) throw new GarbledReplyError('a value of another length');
    this.#taken(reply, reply.value(bytes, start, end), 'a value');
    return end + 2;
  }

  #line(reply: PendingReply, bytes: Buffer, at: number): number {
    const lf = bytes.indexOf(LF, at);
    if ((lf < 0 ? bytes.length : lf) - at > MOST_LINE) throw new GarbledReplyError('a line without an end');
    if (lf < 0) return UNKNOWN;
    if (bytes[lf - 1] !== CR) throw new GarbledReplyError('a line with another end');
    if (bytes[at] === PLUS) this.#taken(reply, reply.line(), 'a line');
    else this.#taken(reply, reply.error(bytes.toString('utf8', at + 1, lf - 1)), 'an error');
    return lf + 1;
  }

  /** Reads a length and the line end, and sets `#length`; returns the offset after them, or UNKNOWN. */
  #head(bytes: Buffer, at: number): number {
    let i = at + 1;
    let length = 0;
    const isNone = bytes[i] === MINUS;
    if (isNone) i++;
    const digits = i;
    for (; i < bytes.length; i++) {
      const digit = (bytes[i] as number) - ZERO;
      if (digit < 0 || digit > 9) break;
      length = 10 * length + digit;
    }
    if (i - at > MOST_HEAD || length > MOST_VALUE) throw new GarbledReplyError('a length beyond all bounds');
    if (i === bytes.length) return UNKNOWN;
    const isLength = i > digits && (!isNone || (length === 1 && i === digits + 1));
    if (!isLength || bytes[i] !== CR) throw new GarbledReplyError('a length that is none');
    if (i + 1 === bytes.length) return UNKNOWN;
    if (bytes[i + 1] !== LF) throw new GarbledReplyError('a line with another end');
    this.#length = isNone ? -1 : length;
    return i + 2;
  }

  #taken(reply: PendingReply, belongs: boolean, what: string): void {
    if (!belongs) throw new GarbledReplyError(`${what} where none belongs`);
    if (!reply.isWhole) return;
    this.#at++;
    if (this.#at === this.#pending.length || this.#at === 256) {
      this.#pending.splice(0, this.#at);
      this.#at = 0;
    }
    reply.settle();
  }
}

/** The offset after the line that contains `at`; the end of the piece if the line end is not in it. */
function lineEnd(piece: Buffer, at: number): number {
  const lf = piece.indexOf(LF, at);
  return lf < 0 ? piece.length : lf + 1;
}
