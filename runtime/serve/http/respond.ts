import type { ServerResponse } from 'node:http';
import { MillraceError } from '../../ground/api/errors.js';
import { inTurns } from '../../ground/core/pieces.js';
import { writeJson } from '../../ground/core/json-writer.js';
import { prepareEarlyAnswer } from './early-answer.js';

/** Sends a small value as JSON, in one write. */
export function sendJson(
  res: ServerResponse,
  status: number,
  value: unknown,
  type = 'application/json',
): void {
  sendText(res, status, type, JSON.stringify(value));
}

/**
 * Sends a value that may be large. It is serialized in several turns of the event loop. Serialization stops when the
 * client disconnects.
 */
export async function sendLargeJson(res: ServerResponse, value: unknown): Promise<void> {
  const { chunks, length } = await inTurns(writeJson(value), () => {
    if (res.closed) throw new MillraceError('deadline_exceeded', 'the client closed the connection');
  });
  res.statusCode = 200;
  res.setHeader('Content-Type', 'application/json');
  res.setHeader('Content-Length', length);
  res.cork();
  for (const chunk of chunks) res.write(chunk);
  res.uncork();
  res.end();
}

/**
 * Sends a page for browsers. Other pages cannot frame it or keep a reference to its window.
 * @param policy its content security policy
 */
export function sendPage(res: ServerResponse, html: string, policy: string): void {
  res.setHeader('Content-Security-Policy', policy);
  res.setHeader('X-Frame-Options', 'DENY');
  res.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  res.setHeader('Referrer-Policy', 'no-referrer');
  sendText(res, 200, 'text/html; charset=utf-8', html);
}

/** Sends a text of the given media type. */
export function sendText(res: ServerResponse, status: number, type: string, text: string): void {
  if (prepareEarlyAnswer(res.req, res)) res.setHeader('Connection', 'close');
  res.statusCode = status;
  res.setHeader('Content-Type', type);
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.end(text);
}
