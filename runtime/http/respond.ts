import type { Response } from 'express';

/** Answers a value as JSON, written once. */
export function sendJson(res: Response, status: number, value: unknown, type = 'application/json'): void {
  sendText(res, status, type, JSON.stringify(value));
}

/** Answers a text of the given media type. */
export function sendText(res: Response, status: number, type: string, text: string): void {
  res.statusCode = status;
  res.setHeader('Content-Type', type);
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.end(text);
}
