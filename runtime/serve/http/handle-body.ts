import type { Request, RequestHandler } from 'express';
import { JsonList } from '../../ground/core/json-list.js';
import { parseLarge } from '../../ground/core/large-json.js';
import { checkNesting, parseJson } from '../../ground/core/parse-json.js';
import { inBackground } from '../../ground/core/background.js';
import { inTurns, type Pieces } from '../../ground/core/pieces.js';
import type { CollectedBody } from './bodies/collect-body.js';
import type { TraceSpan } from '../../project/tracing/trace-span.js';
import { noteWritten } from './edge/audit.js';
import { takeBody, type BodyCheck } from './read-body.js';
import { requestState } from './request-state.js';
import { sendJson } from './respond.js';

/** Bodies up to this many bytes are parsed in one step, which takes at most a few milliseconds. */
const SMALL = 64 * 1024;

/** Answers with the result of a service that writes, as JSON. @param listName see `withBody` */
export function answerWrite(
  service: (body: unknown, span: TraceSpan | undefined) => Promise<unknown>,
  listName?: string,
): RequestHandler {
  return async (req, res) => {
    const { span } = requestState(res);
    const answer = await withBody(req, (body) => service(body, span), listName);
    noteWritten(res, answer);
    sendJson(res, 200, answer);
  };
}

/**
 * Parses the body that `readBody` read, and calls `work` with it.
 * @param listName the field whose list becomes a `JsonList` if the body is large
 * @throws MillraceError malformed_json; invalid_body if a part of a large body is too large, or if the body nests so
 *   deep that the stack of `work` overflows
 */
export async function withBody<T>(
  req: Request,
  work: (body: unknown) => Promise<T>,
  listName?: string,
): Promise<T> {
  const body = takeBody(req);
  const checked = checkedWork(body.check, work);
  if (body.length > SMALL) return checked(await inBackground(parseChunks(body, listName)));
  return withSmallBody(wholeOf(body), checked);
}

/**
 * Does the same for work that needs the whole body at once.
 * @param listName the field whose elements may each be as large as in `withBody`
 */
export async function withWholeBody<T>(
  req: Request,
  work: (body: unknown) => Promise<T>,
  listName: string,
): Promise<T> {
  const body = takeBody(req);
  const checked = checkedWork(body.check, work);
  if (body.length > SMALL) return checked(await inTurns(parseWhole(body, listName)));
  return withSmallBody(wholeOf(body), checked);
}

function checkedWork<T>(
  check: BodyCheck | undefined,
  work: (body: unknown) => Promise<T>,
): (body: unknown) => Promise<T> {
  if (check === undefined) return work;
  return async (body) => {
    await check(body);
    return work(body);
  };
}

async function withSmallBody<T>(bytes: Buffer, work: (body: unknown) => Promise<T>): Promise<T> {
  const body = parseJson(bytes);
  try {
    return await work(body);
  } catch (error) {
    if (error instanceof RangeError && /call stack/i.test(error.message)) checkNesting(bytes);
    throw error;
  }
}

function wholeOf({ chunks }: CollectedBody): Buffer {
  const [first = Buffer.alloc(0)] = chunks;
  return chunks.length < 2 ? first : Buffer.concat(chunks);
}

function* parseWhole(body: CollectedBody, listName: string): Pieces<unknown> {
  const value = (yield* parseChunks(body, listName, true)) as Record<string, unknown>;
  const list = typeof value === 'object' && (value as unknown) !== null ? value[listName] : undefined;
  if (list instanceof JsonList) value[listName] = yield* list.whole();
  return value;
}

function* parseChunks(
  { chunks, length }: CollectedBody,
  listName: string | undefined,
  isUsedAtOnce = false,
): Pieces<unknown> {
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  // Each chunk is released as soon as it is copied.
  for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
    at += chunk.copy(bytes, at);
    yield;
  }
  return yield* parseLarge(bytes, listName, isUsedAtOnce);
}
