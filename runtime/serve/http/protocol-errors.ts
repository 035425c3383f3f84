import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MillraceError } from '../../ground/api/errors.js';
import { problemDocument } from './problem.js';
import { sendJson } from './respond.js';

/**
 * A refused client may still be sending. For this long the rest is read and discarded, so that the client can read the
 * answer.
 */
const LINGER_MS = 1_000;
/** The maximum number of bytes of the rest that are read. */
const MOST_DROPPED = 256 * 1024;

/** Observes the requests of a server. */
export interface RequestWatcher {
  /** Called with each request before it is handled. */
  began(req: IncomingMessage, res: ServerResponse): void;
  /** Called once its answer is sent, or its connection is closed. */
  ended(req: IncomingMessage, res: ServerResponse): void;
}

/**
 * Answers input that is not valid HTTP with a problem document, and closes the connection. Such input never reaches the
 * app. Earlier answers on the connection are sent first. Nothing is written into an answer that has begun.
 * @param refused called with the status of each answer that the app does not count
 */
export function answerProtocolErrors(server: Server, refused: (status: number) => void): RequestWatcher {
  /** Connections that are being closed, each with the bytes that were read before. */
  const ending = new WeakMap<Socket, number>();
  const newest = new WeakMap<Socket, ServerResponse>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // A client may open a connection before it needs one. It would take a 408 for the answer to its first request.
    // Node checks the connection again when a head begins.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) return;
    const read = ending.get(socket);
    if (read !== undefined) {
      if (socket.bytesRead - read > MOST_DROPPED) socket.destroy();
      return;
    }
    const problem = problemOf(error);
    const last = newest.get(socket);
    const isWithin = last?.req.complete === false;
    if (problem === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    ending.set(socket, socket.bytesRead);
    const refuse = (): void => {
      if (!socket.writable) return;
      refused(problem.status);
      endWith(socket, problem);
    };
    if (last === undefined || (last.closed && !isWithin)) refuse();
    else if (!isWithin) last.once('close', refuse);
    // The request was answered before its body was read, so a fault in the body changes nothing.
    else if (last.closed) socket.destroySoon();
    else if (last.headersSent) last.once('close', () => socket.destroySoon());
    else endThrough(last, problem);
  });
  return {
    began({ socket }, res) {
      newest.set(socket, res);
    },
    ended(req, res) {
      // An answer that was sent at once refers to no project, and it costs less to keep it until the next one.
      if (!res.closed) return;
      const { socket } = req;
      // Otherwise an idle connection would keep its last response, and a replaced project with it, in memory.
      const forget = (): void => {
        if (newest.get(socket) === res) newest.delete(socket);
      };
      if (req.complete) forget();
      else req.once('close', forget);
    },
  };
}

/** Sends a problem document through the response of its request, and then closes the connection. */
export function endThrough(res: ServerResponse, problem: MillraceError): void {
  const id = res.getHeader('X-Request-Id') ?? randomUUID();
  const body = problemDocument(problem, String(id));
  res.setHeader('X-Request-Id', id);
  res.setHeader('Connection', 'close');
  sendJson(res, problem.status, body, 'application/problem+json');
}

function endWith(socket: Socket, problem: MillraceError): void {
  const { status } = problem;
  const id = randomUUID();
  const body = JSON.stringify(problemDocument(problem, id));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `Date: ${new Date().toUTCString()}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${id}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
}

/** Converts an error of Node's HTTP server to a problem document. Returns undefined if the connection is lost. */
function problemOf({ code = '', message }: NodeJS.ErrnoException): MillraceError | undefined {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new MillraceError('request_timeout', 'the request did not arrive whole in time');
  if (code === 'HPE_HEADER_OVERFLOW')
    return new MillraceError(
      'headers_too_large',
      'the request line and headers are longer than this server takes',
    );
  if (!code.startsWith('HPE_')) return undefined;
  return new MillraceError('malformed_request', message.replace(/^Parse Error: /, ''));
}
