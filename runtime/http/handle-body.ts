import type { Request, RequestHandler } from 'express';
import { checkNesting, parseJson } from '../core/parse-json.js';
import { sendJson } from './respond.js';

/** Answers what a service makes of the body, as JSON. */
export function answerBody(service: (body: unknown) => Promise<unknown>): RequestHandler {
  return async (req, res) => {
    sendJson(res, 200, await withBody(req, service));
  };
}

/**
 * Hands the body that `readBody` read to some work, as parsed JSON.
 * @throws MillraceError malformed_json; invalid_body where the work's stack overflows on a body that nests too deep
 */
export async function withBody<T>(req: Request, work: (body: unknown) => Promise<T>): Promise<T> {
  const bytes = bytesOf(req);
  const body = parseJson(bytes);
  try {
    return await work(body);
  } catch (error) {
    if (error instanceof RangeError && /call stack/i.test(error.message)) checkNesting(bytes);
    throw error;
  }
}

function bytesOf(req: Request): Uint8Array {
  const bytes: unknown = req.body;
  return bytes instanceof Uint8Array ? bytes : new Uint8Array();
}
