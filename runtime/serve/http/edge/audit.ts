import type { Logger } from 'pino';
import type { MillraceError } from '../../../ground/api/errors.js';
import { CLIENT_CLOSED_REQUEST, type Exchange } from '../exchange.js';
import type { Edge } from './edge.js';

/** Writes one line for each request to a route that writes: who, from where, to what, how much. */
export class Audit {
  /** @param log where the lines go; undefined if there are none */
  constructor(
    private readonly log: Logger | undefined,
    private readonly edge: Edge,
  ) {}

  /** Logs the request when it is over. */
  watch(exchange: Exchange, route: string): void {
    const { log } = this;
    if (log === undefined) return;
    const { res } = exchange;
    const address = this.edge.addressOf(exchange.req);
    res.once('close', () => {
      const { id, key, written } = exchange;
      const status = res.writableFinished ? res.statusCode : CLIENT_CLOSED_REQUEST;
      const who = { request_id: id, key: key?.name ?? '-', address };
      log.info({ ...who, route, status, ...written }, 'write');
    });
  }
}

/** Remembers what a successful write did, for its audit line. @param answer the body of the answer */
export function noteWritten(exchange: Exchange, answer: unknown): void {
  const { entity_type, view, list } = answer as { entity_type?: string; view?: string; list?: string };
  exchange.written = {
    ...(entity_type === undefined ? {} : { entity_type }),
    ...(view === undefined ? {} : { view }),
    ...(list === undefined ? {} : { list }),
    counts: countsOf(answer as object),
  };
}

/** Remembers why a write failed, and what a part of it did. */
export function noteFailed(exchange: Exchange, { code, extensions }: MillraceError): void {
  exchange.written = { ...exchange.written, code, counts: countsOf(extensions) };
}

/** The numbers of an answer, and the lengths of its lists. */
function countsOf(answer: object): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(answer).flatMap(([name, value]: [string, unknown]) =>
      typeof value === 'number' ? [[name, value]] : Array.isArray(value) ? [[name, value.length]] : [],
    ),
  );
}
