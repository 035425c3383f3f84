import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { MillraceError } from '../../../ground/api/errors.js';
import { CLIENT_CLOSED_REQUEST, requestState } from '../request-state.js';
import type { Edge } from './edge.js';

/** What a request wrote. It has names of the project and numbers, and never a value that the client sent. */
interface Written {
  readonly entity_type?: string;
  readonly view?: string;
  readonly list?: string;
  readonly code?: string;
  readonly counts?: Readonly<Record<string, number>>;
}

const written = new WeakMap<ServerResponse, Written>();

/** Writes one line for each request to a route that writes: who, from where, to what, how much. */
export class Audit {
  /** @param log where the lines go; undefined if there are none */
  constructor(
    private readonly log: Logger | undefined,
    private readonly edge: Edge,
  ) {}

  /** Logs the request when it is over. */
  watch(req: IncomingMessage, res: ServerResponse, route: string): void {
    const { log } = this;
    if (log === undefined) return;
    const address = this.edge.addressOf(req);
    res.once('close', () => {
      const { id, key } = requestState(res);
      const status = res.writableFinished ? res.statusCode : CLIENT_CLOSED_REQUEST;
      const who = { request_id: id, key: key?.name ?? '-', address };
      log.info({ ...who, route, status, ...written.get(res) }, 'write');
    });
  }
}

/** Remembers what a successful write did, for its audit line. @param answer the body of the answer */
export function noteWritten(res: ServerResponse, answer: unknown): void {
  const { entity_type, view, list } = answer as { entity_type?: string; view?: string; list?: string };
  written.set(res, {
    ...(entity_type === undefined ? {} : { entity_type }),
    ...(view === undefined ? {} : { view }),
    ...(list === undefined ? {} : { list }),
    counts: countsOf(answer as object),
  });
}

/** Remembers why a write failed, and what a part of it did. */
export function noteFailed(res: ServerResponse, { code, extensions }: MillraceError): void {
  written.set(res, { ...written.get(res), code, counts: countsOf(extensions) });
}

/** The numbers of an answer, and the lengths of its lists. */
function countsOf(answer: object): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(answer).flatMap(([name, value]: [string, unknown]) =>
      typeof value === 'number' ? [[name, value]] : Array.isArray(value) ? [[name, value.length]] : [],
    ),
  );
}
