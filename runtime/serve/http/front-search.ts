import type { ServerResponse } from 'node:http';
import { MillraceError } from '../../ground/api/errors.js';
import { OutboundError, type OutboundAnswer, type OutboundRequest } from '../../ground/api/http-client.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { Deadline } from '../../ground/core/deadline.js';
import { JsonBytes, type Span } from '../../ground/core/json-bytes.js';
import { valueAt } from '../../ground/core/value-at.js';
import { sendTwice } from '../../ground/sdk/outbound-client.js';
import type { FieldSource } from '../../project/config/model/fronts.js';
import { degradationText } from '../../request/pipeline/page/degraded.js';
import { fieldValue } from '../../request/pipeline/request/address-fields.js';
import type { Pipeline } from '../../request/pipeline/types.js';
import { FoundHits, seenOrder } from '../fronts/found-hits.js';
import type { CompiledFront } from '../fronts/open-front.js';
import { widenSearch, type SentSearch, type WideSearch } from '../fronts/widen-search.js';
import type { Exchange } from './exchange.js';
import { RefusalLog } from './refusal-log.js';
import type { RouteParts } from './route.js';
import { runnerOf } from './routes/rank.js';

/** Tells what became of a search: `ranked=<hits>`, `passed=<why>`, or `degraded=<code>`; of several, with `;n=<count>`. */
const FRONT_HEADER = 'Millrace-Front';
/** Headers of clients that the engine gets. */
const SENT_ON = ['accept', 'x-opaque-id'];
/** Headers of the engine's answer that are about its connection, or that this service sets itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-connection', 'trailer', 'transfer-encoding'],
  ...['content-length', 'date', 'upgrade', 'x-request-id'],
]);
const LINE_END = 0x0a;
/** A request with more searches is passed on. */
const MOST_SEARCHES = 100;

/** What became of a search, for the header and the metrics. */
interface Told {
  readonly outcome: 'ranked' | 'passed' | 'degraded' | 'failed';
  readonly why: string | number;
  /** Of a ranking that was not whole. */
  readonly degraded?: readonly string[];
}

/** What the client gets. */
interface Shown {
  /** By search. */
  readonly told: readonly Told[];
  readonly answer: OutboundAnswer;
  /** The body, in place of the engine's. */
  readonly parts: readonly Buffer[];
}

/** What is sent to the engine. */
interface Sent {
  readonly bytes: Buffer | undefined;
  readonly query: string;
}

/** A search whose hits can be ranked. */
interface Prepared {
  readonly wide: WideSearch;
  /** Of the body of the pipeline. */
  readonly fields: JsonObject;
}

/** One request to the engine. */
interface Searches {
  readonly sent: SentSearch;
  /** Asks for the windows of the searches. */
  readonly wide: SentSearch;
  /** Each search, or why it keeps the engine's order. */
  readonly prepared: readonly (Prepared | string)[];
  /** Where the answer to each begins; by default there is one. */
  readonly responsesIn?: (json: JsonBytes) => readonly number[];
}

/** New bytes for a list of hits. */
interface Replaced extends Told {
  readonly list: Span;
  readonly parts: readonly Buffer[];
}

/** Asks the engine of a front, and ranks what it finds. */
export class FrontSearch {
  readonly #front: CompiledFront;
  readonly #pipeline: Pipeline;
  readonly #rank: ReturnType<typeof runnerOf>;
  readonly #metrics: RouteParts['metrics'];
  readonly #failures: RefusalLog;

  constructor(front: CompiledFront, pipeline: Pipeline, { metrics, logger }: RouteParts) {
    this.#front = front;
    this.#pipeline = pipeline;
    this.#rank = runnerOf(pipeline, { metrics, logger });
    this.#metrics = metrics;
    this.#failures = new RefusalLog(logger);
  }

  /** Answers a search. */
  async one(exchange: Exchange, path: string, sent: SentSearch): Promise<void> {
    const prepared = this.#prepare(exchange, sent);
    this.#send(
      exchange,
      typeof prepared === 'string'
        ? await this.#pass(exchange, path, sent, [prepared])
        : await this.#found(exchange, path, { sent, wide: prepared.wide, prepared: [prepared] }),
    );
  }

  /**
   * Answers a request with several searches: lines in turn with what is about a search, such as its index, and its body.
   */
  async many(exchange: Exchange, path: string, sent: SentSearch): Promise<void> {
    const lines = linesOf(sent.bytes, 2 * MOST_SEARCHES);
    if (lines === undefined) {
      this.#send(exchange, await this.#pass(exchange, path, sent, ['searches']));
      return;
    }
    const bodies = lines.filter((_, at) => at % 2 === 1);
    const prepared = bodies.map((bytes) => this.#prepare(exchange, { bytes, query: '' }));
    const wide = lines.flatMap((line, at) => {
      const one = at % 2 === 1 ? prepared[(at - 1) / 2] : undefined;
      return [typeof one === 'object' ? one.wide.bytes : line, Buffer.from('\n')];
    });
    const shown = prepared.some((one) => typeof one === 'object')
      ? await this.#found(exchange, path, {
          sent,
          wide: { ...sent, bytes: Buffer.concat(wide) },
          prepared,
          responsesIn,
        })
      : await this.#pass(exchange, path, sent, prepared.map(String));
    this.#send(exchange, shown);
  }

  /** Forwards a read. */
  async read(exchange: Exchange, path: string, query: string): Promise<void> {
    const method = exchange.req.method === 'HEAD' ? 'HEAD' : 'GET';
    const answer = await this.#ask(exchange, path, method, { bytes: undefined, query });
    if (answer !== undefined) sendAnswer(exchange.res, answer, method === 'HEAD' ? undefined : [answer.body]);
  }

  /**
   * Asks for the window, and ranks it. If that cannot be, the engine is asked for what the client asks for: it may take the
   * page, though not the window.
   */
  async #found(
    exchange: Exchange,
    path: string,
    { sent, wide, prepared, responsesIn: startsIn = () => [0] }: Searches,
  ): Promise<Shown> {
    const passed = (why: string): Promise<Shown> =>
      this.#pass(
        exchange,
        path,
        sent,
        prepared.map((one) => (typeof one === 'string' ? one : why)),
      );
    const answer = await this.#ask(exchange, path, 'POST', wide, true);
    if (answer === undefined || answer.status === 400) return passed('window_refused');
    if (answer.status !== 200) return shownAs(answer, []);
    const json = new JsonBytes(answer.body);
    const starts = startsIn(json);
    const found = prepared.map((one, at) => {
      const start = starts[at] ?? answer.body.length;
      return typeof one === 'string'
        ? one
        : (FoundHits.of(json, this.#front.engine, start) ?? refusalOf(json, start));
    });
    if (found.includes(undefined)) return passed('no_hits');
    const ranked = await Promise.all(
      prepared.map(async (one, at): Promise<Replaced | Told> => {
        const hits = found[at];
        if (typeof one === 'string') return { outcome: 'passed', why: one };
        if (typeof hits === 'number') return { outcome: 'failed', why: hits };
        if (typeof hits !== 'object') throw new Error(`the search ${at} has no hits`);
        return this.#replaced(exchange, one, hits, at === 0 ? exchange.id : `${exchange.id}-${at}`);
      }),
    );
    const parts: Buffer[] = [];
    let end = 0;
    for (const one of ranked)
      if ('list' in one) {
        parts.push(answer.body.subarray(end, one.list.start), ...one.parts);
        end = one.list.end;
      }
    return { told: ranked, answer, parts: [...parts, answer.body.subarray(end)] };
  }

  async #pass(exchange: Exchange, path: string, sent: SentSearch, why: readonly string[]): Promise<Shown> {
    const answer = await this.#ask(exchange, path, 'POST', sent);
    if (answer === undefined) throw new Error('the engine was asked for what may be too large');
    return shownAs(
      answer,
      why.map((one) => ({ outcome: 'passed', why: one })),
    );
  }

  #prepare(exchange: Exchange, sent: SentSearch): Prepared | string {
    const wide = widenSearch(this.#front.engine, sent, this.#front.definition.window);
    if (typeof wide === 'string') return wide;
    const fields = this.#fieldsOf(exchange, wide);
    return typeof fields === 'string' ? fields : { wide, fields };
  }

  async #replaced(exchange: Exchange, prepared: Prepared, hits: FoundHits, id: string): Promise<Replaced> {
    const { from, size } = prepared.wide;
    const { order, ...told } = await this.#order(exchange, prepared, hits, id);
    return { ...told, ...hits.cut(order.slice(from, from + size)) };
  }

  /** Answers, and counts the searches. */
  #send({ res }: Exchange, { told, answer, parts }: Shown): void {
    for (const { outcome } of told) this.#metrics.searched(this.#front.definition.name, outcome);
    const words = new Map<string, number>();
    for (const { outcome, why } of told) {
      const word = `${outcome}=${encodeURIComponent(why)}`;
      if (told.length > 1 || outcome !== 'failed') words.set(word, (words.get(word) ?? 0) + 1);
    }
    const counted = Array.from(words, ([word, count]) => (count === 1 ? word : `${word};n=${count}`));
    if (counted.length > 0) res.setHeader(FRONT_HEADER, counted.join(', '));
    const degraded = new Set(told.flatMap((one) => one.degraded ?? []));
    if (degraded.size > 0) res.setHeader('Millrace-Degraded', [...degraded].join(', '));
    sendAnswer(res, answer, parts);
  }

  /**
   * @returns undefined if the answer is too large, if that may be
   * @throws MillraceError engine_failed
   */
  async #ask(
    { req, arrived, deadline, span }: Exchange,
    path: string,
    method: OutboundRequest['method'],
    { bytes, query }: Sent,
    mayBeTooLarge = false,
  ): Promise<OutboundAnswer | undefined> {
    const { auth, timeoutMs, engine } = this.#front.definition;
    const names = auth === 'forward' ? [...SENT_ON, 'authorization'] : SENT_ON;
    const headers = names.flatMap((name) => {
      const value = req.headers[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    });
    const { 'content-type': contentType } = req.headers;
    try {
      const answer = await sendTwice(this.#front.client, {
        method,
        path: query === '' ? path : `${path}?${query}`,
        ...(bytes === undefined || bytes.length === 0 ? {} : { body: bytes }),
        ...(contentType === undefined ? {} : { contentType }),
        headers: Object.fromEntries(headers),
        signal: deadline.signal,
        timeoutMs: Math.max(1, Math.ceil(timeoutMs - (performance.now() - arrived))),
        maxBytes: engine.maxBytes,
        trace: span,
      });
      const { status } = answer;
      if (status >= 300 && status < 400 && status !== 304)
        throw new MillraceError(
          'engine_failed',
          `the engine answered ${status}, a redirect, which is not followed`,
        );
      return answer;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      if (mayBeTooLarge && error.fault === 'too_large') return undefined;
      throw new MillraceError('engine_failed', error.message, { cause: error });
    }
  }

  /** The fields of the pipeline's request; the name of one that is needed, and that the search does not have. */
  #fieldsOf({ req }: Exchange, { body, params }: WideSearch): JsonObject | string {
    const valueOf = (source: FieldSource): unknown =>
      source.of === 'body'
        ? valueAt(body, source.path)
        : source.of === 'header'
          ? req.headers[source.name]
          : (params.get(source.name) ?? undefined);
    const found: Record<string, JsonValue> = {};
    for (const [name, { from }] of this.#front.definition.map) {
      const value = from.map(valueOf).find((one) => (one ?? undefined) !== undefined);
      if (value !== undefined)
        found[name] = fieldValue(
          value as JsonValue,
          this.#pipeline.fields.find((field) => field.name === name),
        );
    }
    const missing = this.#pipeline.fields.find(
      ({ name, optional }) => !optional && !Object.hasOwn(found, name),
    );
    return missing === undefined ? found : `no_${missing.name}`;
  }

  /** The order in which people see the hits. @param requestId of the ranking */
  async #order(
    exchange: Exchange,
    { wide: { from, size }, fields }: Prepared,
    hits: FoundHits,
    requestId: string,
  ): Promise<Told & { readonly order: readonly number[] }> {
    const { engine, definition } = this.#front;
    const { candidateKey: key = '', limitMs } = this.#pipeline;
    const deadline = new Deadline(limitMs, { parent: exchange.deadline });
    try {
      const found = hits.candidates(engine, key, definition.carried, definition.window);
      if (found === undefined) return degradedBy('no_ids', hits);
      const { ids, candidates } = found;
      const page = { start: from, size };
      const running = this.#rank(exchange, { ...fields, candidates }, { requestId, deadline, page });
      const { answer, report } = await deadline.within(running);
      const ranked = (answer.ranked_candidates ?? []).map(({ candidate_id: id }) => id);
      return {
        outcome: 'ranked',
        why: ids.length,
        order: seenOrder(ids, ranked, hits.count),
        degraded: report.degraded.map(degradationText),
      };
    } catch (error) {
      if (exchange.isOver) throw error;
      const code = error instanceof MillraceError ? error.code : 'internal';
      this.#failures.refused(code, () => ({
        ...exchange.logFields,
        front: definition.name,
        error: error instanceof Error ? error.message : String(error),
      }));
      return degradedBy(code, hits);
    } finally {
      deadline.end();
    }
  }
}

function degradedBy(code: string, { count }: FoundHits): Told & { readonly order: readonly number[] } {
  const order = Array.from({ length: count }, (_, place) => place);
  return { outcome: 'degraded', why: code, degraded: [`front=${code}`], order };
}

/** The engine's answer as it is. */
function shownAs(answer: OutboundAnswer, told: readonly Told[]): Shown {
  const failed: Told = { outcome: 'failed', why: answer.status };
  return { told: answer.status >= 400 ? [failed] : told, answer, parts: [answer.body] };
}

/** Where the answer to each of several searches begins. */
function responsesIn(json: JsonBytes): readonly number[] {
  try {
    const list = json.find(['responses']);
    return list === undefined ? [] : json.items(list).filter((_, at) => at % 2 === 0);
  } catch {
    return [];
  }
}

/** The status of the answer to one of several searches, unless it could be another one for the page alone. */
function refusalOf(json: JsonBytes, start: number): number | undefined {
  try {
    const span = json.find(['status'], start);
    const status = span && json.value(span);
    return typeof status === 'number' && status > 400 ? status : undefined;
  } catch {
    return undefined;
  }
}

/** The lines of a text; the last one may have no end. @returns undefined if there are more than `most` */
function linesOf(bytes: Buffer, most: number): Buffer[] | undefined {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    if (lines.length === most) return undefined;
    const end = bytes.indexOf(LINE_END, start);
    lines.push(bytes.subarray(start, end < 0 ? bytes.length : end));
    start = end < 0 ? bytes.length : end + 1;
  }
  return lines;
}

function sendAnswer(
  res: ServerResponse,
  { status, headers = {} }: OutboundAnswer,
  parts: readonly Buffer[] | undefined,
): void {
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !OWN_HEADERS.has(name)) res.setHeader(name, value);
  res.statusCode = status;
  const length = parts?.reduce((sum, part) => sum + part.length, 0) ?? headers['content-length'];
  if (length !== undefined && status !== 204 && status !== 304) res.setHeader('Content-Length', length);
  res.cork();
  for (const part of parts ?? []) res.write(part);
  res.uncork();
  res.end();
}
