import type { ServerResponse } from 'node:http';

/** Answers a value as JSON, written once. */
export function sendJson(
  res: ServerResponse,
  status: number,
  value: unknown,
  type = 'application/json',
): void {
  sendText(res, status, type, JSON.stringify(value));
}

/** Answers a text of the given media type. */
export function sendText(res: ServerResponse, status: number, type: string, text: string): void {
  res.statusCode = status;
  res.setHeader('Content-Type', type);
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.end(text);
}
