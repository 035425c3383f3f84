import { Coerced } from '../../ground/core/lax-value.js';
import { JsonList } from '../../ground/core/json-list.js';
import { parseLarge } from '../../ground/core/large-json.js';
import { checkNesting, parseJson } from '../../ground/core/parse-json.js';
import { parseIds } from '../../ground/core/parse-ids.js';
import { inBackground } from '../../ground/core/background.js';
import { inTurns, type Pieces } from '../../ground/core/pieces.js';
import type { CollectedBody } from './bodies/collect-body.js';
import type { TraceSpan } from '../../project/tracing/trace-span.js';
import { noteWritten } from './edge/audit.js';
import type { Exchange } from './exchange.js';
import { sendJson, sendLargeJson } from './respond.js';
import type { Handler } from './route.js';

/** Bodies up to this many bytes are parsed in one step, which takes at most a few milliseconds. */
const SMALL = 64 * 1024;
/** With so many bytes, ids are taken from the bytes: fewer save nothing, and more would take too long in one step. */
const [MANY_IDS, MOST_IDS] = [2 * 1024, 384 * 1024];

/** How many values of a body were converted to their declared types, if any was. */
export const COERCED_HEADER = 'Millrace-Coerced';

/** @param who the name of the key of the request, or of the person @param coerced counts what the service converts */
type Service = (
  body: unknown,
  span: TraceSpan | undefined,
  who: string | undefined,
  coerced: Coerced,
) => Promise<unknown>;

/** Answers with the result of a service that reads, as JSON. @param listName see `withBody` */
export function answerRead(service: Service, listName?: string): Handler {
  return async (exchange) => {
    const answer = await withBody(
      exchange,
      (body) => service(body, exchange.span, exchange.key?.name, new Coerced()),
      listName,
    );
    await sendLargeJson(exchange.res, answer);
  };
}

/** Answers with the result of a service that writes, as JSON. @param listName see `withBody` */
export function answerWrite(service: Service, listName?: string): Handler {
  return async (exchange) => {
    sendJson(exchange.res, 200, await written(exchange, service, listName));
  };
}

/** Calls a service that writes with the body, and notes what it wrote and how many values it converted. */
export async function written(exchange: Exchange, service: Service, listName?: string): Promise<unknown> {
  const coerced = new Coerced();
  const answer = await withBody(
    exchange,
    (body) => service(body, exchange.span, exchange.key?.name, coerced),
    listName,
  );
  noteWritten(exchange, answer);
  if (coerced.total > 0) exchange.res.setHeader(COERCED_HEADER, coerced.total);
  return answer;
}

/**
 * Parses the body that `readBody` read, and calls `work` with it.
 * @param listName the field whose list becomes a `JsonList` if the body is large
 * @throws MillraceError malformed_json; invalid_body if a part of a large body is too large, or if the body nests so
 *   deep that the stack of `work` overflows
 */
export async function withBody<T>(
  exchange: Exchange,
  work: (body: unknown) => Promise<T>,
  listName?: string,
): Promise<T> {
  const body = takeBody(exchange);
  const checked = checkedWork(exchange, work);
  if (body.length > SMALL) return checked(await inBackground(parseChunks(body, listName)));
  return withSmallBody(wholeOf(body), checked);
}

/**
 * Does the same for work that needs the whole body at once.
 * @param listName the field whose elements may each be as large as in `withBody`
 * @param key the list may become an `IdList` of this field; by default it does not
 */
export function withWholeBody<T>(
  exchange: Exchange,
  work: (body: unknown) => Promise<T>,
  listName: string,
  key?: string,
): Promise<T> {
  const body = takeBody(exchange);
  const checked = checkedWork(exchange, work);
  const hasIds = key !== undefined && body.length >= MANY_IDS && body.length <= MOST_IDS;
  if (!hasIds && body.length > SMALL) return inTurns(parseWhole(body, listName)).then(checked);
  const bytes = wholeOf(body);
  const parsed = hasIds ? parseIds(bytes, listName, key) : undefined;
  if (parsed === undefined && bytes.length > SMALL)
    return inTurns(parseWhole({ chunks: [bytes], length: bytes.length }, listName)).then(checked);
  return withSmallBody(bytes, checked, parsed);
}

/** Takes the bytes of a body, for a handler that does not need all of it parsed. */
export function wholeBody(exchange: Exchange): Buffer {
  return wholeOf(takeBody(exchange));
}

/** Takes the body, so that its memory is free as soon as it is parsed. */
function takeBody(exchange: Exchange): CollectedBody {
  const body = exchange.body ?? { chunks: [], length: 0 };
  exchange.body = undefined;
  return body;
}

function checkedWork<T>(
  { checkBody: check }: Exchange,
  work: (body: unknown) => Promise<T>,
): (body: unknown) => Promise<T> {
  if (check === undefined) return work;
  return async (body) => {
    await check(body);
    return work(body);
  };
}

async function withSmallBody<T>(
  bytes: Buffer,
  work: (body: unknown) => Promise<T>,
  parsed?: object,
): Promise<T> {
  const body = parsed ?? parseJson(bytes);
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
