import { connect } from 'node:net';
import { pathToFileURL } from 'node:url';
import type * as pg from 'pg';
import { type OutboundCall, OutboundError, type OutboundGuard, Turns } from 'millrace/api';

/** The time limit for opening a connection, and how long an idle one is kept, in milliseconds. */
const CONNECT_MS = 2_000;
const KEEP_ALIVE_MS = 10_000;
/** A server that does not cancel a statement within this time is not waited for. */
const CANCEL_MS = 500;

/** Codes of errors: the connection is lost; the statement is cancelled; the server has no room for a connection now. */
const LOST = /^(08|57P0[12])/;
const CANCELLED = '57014';
const BUSY: ReadonlySet<string> = new Set(['53300', '57P03']);
const UNREACHABLE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
]);

/** A statement to run, and the most rows to read. */
export interface Question extends OutboundCall {
  readonly statement: string;
  readonly values: readonly unknown[];
  readonly most: number;
}

/** Rows of texts, or the error of the server. */
export interface Answer {
  readonly status: 200 | 400 | 503;
  readonly error?: string;
  readonly fields: readonly pg.FieldDef[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** What @types/pg leaves out. */
interface Client extends pg.PoolClient {
  readonly processID: number;
  readonly secretKey: number;
  readonly connection: pg.Connection;
}

/**
 * A pool of connections. Each is read-only, and the server stops a statement at about its time limit, also if this process is
 * gone. At the limit itself the statement is cancelled, so that the connection can be used again.
 */
export class Database {
  readonly #path: string;
  readonly #config: pg.PoolConfig;
  readonly #guard: OutboundGuard;
  readonly #turns: Turns;
  /** By connection: the time limit that the server knows. */
  readonly #limits = new WeakMap<pg.PoolClient, number>();
  #pool: Promise<readonly [typeof pg, pg.Pool]> | undefined;

  /** @param path the main file of pg */
  constructor(
    path: string,
    { connections, ...address }: pg.ClientConfig & { readonly connections: number },
    guard: OutboundGuard,
  ) {
    this.#path = path;
    this.#guard = guard;
    this.#turns = new Turns(connections);
    this.#config = {
      ...address,
      max: connections,
      application_name: 'millrace',
      connectionTimeoutMillis: CONNECT_MS,
      idleTimeoutMillis: KEEP_ALIVE_MS,
      keepAlive: true,
      allowExitOnIdle: true,
    };
  }

  /** @throws OutboundError, or the reason of the signal */
  request(question: Question): Promise<Answer> {
    return this.#guard.run(question, async (signal) => {
      try {
        // The turn ends when the connection is free, which is later than the call if the statement is cancelled.
        return await this.#turns.take(signal, () => this.#ask(question, signal));
      } catch (error) {
        const answer = errorAnswer(error);
        if (answer === undefined) throw faultOf(error, this.#config.host ?? '');
        return answer;
      }
    });
  }

  async close(): Promise<void> {
    await this.#turns.idle();
    const [, pool] = (await this.#pool) ?? [];
    await pool?.end();
  }

  async #ask({ timeoutMs, ...question }: Question, signal: AbortSignal): Promise<Answer> {
    this.#pool ??= openPool(this.#path, this.#config);
    const [{ Query }, pool] = await this.#pool;
    const client = (await pool.connect()) as Client;
    let isLost = true;
    let timer: NodeJS.Timeout | undefined;
    const cancel = (): void => {
      cancelStatement(this.#config, client);
      timer = setTimeout(() => client.connection.stream.destroy(), CANCEL_MS);
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      signal.throwIfAborted();
      await this.#limit(client, timeoutMs);
      signal.throwIfAborted();
      const answer = await read(new Query(questionOf(question)), client, question.most);
      // A late cancel request would end the next statement of the connection.
      isLost = signal.aborted;
      return answer;
    } catch (error) {
      const isCancelled = (error as Partial<pg.DatabaseError>).code === CANCELLED;
      isLost = signal.aborted ? !isCancelled : errorAnswer(error) === undefined;
      throw error;
    } finally {
      signal.removeEventListener('abort', cancel);
      clearTimeout(timer);
      client.release(isLost);
    }
  }

  /**
   * After the time of a cancellation, so that the server's own limit is over last. Rounds up to a power of two, because each
   * change asks the server.
   */
  async #limit(client: pg.PoolClient, timeoutMs: number): Promise<void> {
    const limit = 2 ** Math.ceil(Math.log2(timeoutMs + CANCEL_MS));
    if (this.#limits.get(client) === limit) return;
    await client.query(
      `set default_transaction_read_only = on; set datestyle = iso; set statement_timeout = ${limit}`,
    );
    this.#limits.set(client, limit);
  }
}

/** Loads the client, and makes the pool. An idle connection that is lost leaves it. */
async function openPool(path: string, config: pg.PoolConfig): Promise<readonly [typeof pg, pg.Pool]> {
  const { default: module } = (await import(pathToFileURL(path).href)) as { readonly default: typeof pg };
  const pool = new module.Pool(config);
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return [module, pool];
}

/** Cells stay texts, and there is one statement. */
const AS_SENT = { getTypeParser: () => (cell: string) => cell };

function questionOf({ statement, values }: Pick<Question, 'statement' | 'values'>): pg.QueryConfig {
  const config = {
    text: statement,
    values: [...values],
    rowMode: 'array',
    types: AS_SENT,
    queryMode: 'extended',
  };
  return config as pg.QueryConfig;
}

/** Reads the first rows. Further ones are not held. */
function read(query: pg.Query, client: pg.PoolClient, most: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const rows: (string | null)[][] = [];
    query.on('row', (row: (string | null)[]) => {
      if (rows.length < most) rows.push(row);
    });
    query.on('end', ({ fields }: pg.QueryResult) => resolve({ status: 200, fields, rows }));
    query.on('error', reject);
    client.query(query);
  });
}

/** Sends a cancel request, which has a connection of its own. It is not encrypted, and has no secret of the user. */
function cancelStatement({ host, port }: pg.PoolConfig, { processID, secretKey }: Client): void {
  const packet = Buffer.alloc(16);
  for (const [at, word] of [16, 80_877_102, processID, secretKey].entries())
    packet.writeInt32BE(word, 4 * at);
  const socket = connect({ host: host ?? '', port: port ?? 0 });
  socket.setTimeout(CANCEL_MS, () => socket.destroy());
  socket.on('error', () => undefined);
  socket.end(packet);
}

/** What the server says about the statement; undefined for a failure of another kind. */
function errorAnswer(error: unknown): Answer | undefined {
  const { code, message, hint, severity } = error as Partial<pg.DatabaseError>;
  if (severity === undefined || code === undefined || LOST.test(code)) return undefined;
  const status = BUSY.has(code) ? 503 : 400;
  return {
    status,
    error: `${message ?? ''} (${code})${hint === undefined ? '' : `; ${hint}`}`,
    fields: [],
    rows: [],
  };
}

function faultOf(error: unknown, host: string): unknown {
  if (error instanceof OutboundError) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  const isUnreachable = UNREACHABLE.has(code) || message.includes('connection timeout');
  return new OutboundError(isUnreachable ? 'unreachable' : 'closed', `${host}: ${message}`, { cause: error });
}
