import {
  inTurns,
  type Pieces,
  ProbeError,
  type Reader,
  type ReaderContext,
  type ReadRows,
  sendTwice,
} from 'millrace/api';
import { cellReader, timeReader } from './cell-values.js';
import type { Answer, Database } from './database.js';
import { paramOf } from './param.js';
import type { Options } from './reader.generated.js';

const PROBE_MS = 2_000;
/** Rows that are read in one turn. */
const PIECE = 256;

/** A column of the answer, with how it is read. */
interface ReadColumn {
  readonly name: string;
  readonly at: number;
  readonly read: (text: string) => unknown;
}

/** Reads a view with one statement. */
export class ViewReader implements Reader {
  readonly probe: NonNullable<Reader['probe']>;
  readonly #database: Database;
  readonly #statement: string;
  readonly #time: string | undefined;
  readonly #view: Pick<ReaderContext, 'keys' | 'features'>;

  constructor(
    { time }: Pick<Options, 'time'>,
    statement: string,
    view: Pick<ReaderContext, 'keys' | 'features'>,
    { database, server }: { readonly database: Database; readonly server: string },
  ) {
    this.#database = database;
    this.#statement = statement;
    this.#time = time;
    this.#view = view;
    this.probe = { server, ask: (signal) => this.#ask(signal) };
  }

  async read({ keys, signal, timeoutMs, trace }: Parameters<Reader['read']>[0]): Promise<ReadRows> {
    const lists = this.#view.keys.map((_, part) => keys.map((key) => key[part] ?? ''));
    const values = await Promise.all(lists.map(paramOf));
    // One row more than there are keys shows that the statement returns too many.
    const ask = { statement: this.#statement, values, most: keys.length + 1, signal, timeoutMs, trace };
    const answer = await sendTwice(this.#database, ask);
    return inTurns(this.#rows(answer, keys), () => signal.throwIfAborted());
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  *#rows(answer: Answer, keys: readonly (readonly string[])[]): Pieces<ReadRows> {
    const { places, columns, time, problems } = this.#columnsOf(answer);
    const numbers = new Map(keys.map((key, i) => [JSON.stringify(key), i]));
    const values = Object.fromEntries(columns.map(({ name }) => [name, new Array<unknown>(keys.length)]));
    const times = new Float64Array(keys.length).fill(NaN);
    const failed = new Uint8Array(keys.length);
    const found = new Uint8Array(keys.length);
    let repeated = 0;
    for (const [n, row] of answer.rows.entries()) {
      if (n % PIECE === PIECE - 1) yield;
      const key = numbers.get(JSON.stringify(places.map((at) => row[at] ?? '')));
      if (key === undefined) continue;
      if (found[key] === 1) {
        repeated++;
        continue;
      }
      found[key] = 1;
      for (const { name, at, read } of columns) (values[name] as unknown[])[key] = valueOf(row[at], read);
      const cell = time === undefined ? undefined : row[time.at];
      if (time !== undefined && typeof cell === 'string') times[key] = Number(time.read(cell));
    }
    if (repeated > 0) problems.push(`${repeated} rows repeat a key; return one row for each key`);
    if (answer.rows.length > keys.length) {
      // Rows that were not held may be those of keys without a row.
      for (const [key, is] of found.entries()) failed[key] = 1 - is;
      problems.unshift(
        `it returned more rows than the ${keys.length} keys; add a condition such as = any($1)`,
      );
    }
    const [problem] = problems;
    return {
      columns: values,
      failed,
      ...(time === undefined ? {} : { times }),
      ...(problem === undefined ? {} : { problem }),
    };
  }

  /** @throws Error for an error of the server, and if there is no column of the key */
  #columnsOf({ error, fields }: Answer): {
    readonly places: readonly number[];
    readonly columns: readonly ReadColumn[];
    readonly time: ReadColumn | undefined;
    readonly problems: string[];
  } {
    if (error !== undefined) throw new Error(error);
    const placeOf = (name: string): number => fields.findIndex((field) => field.name === name);
    const listed = fields.map(({ name }) => `\`${name}\``).join(', ') || 'none';
    const problems: string[] = [];
    const columnOf = (
      name: string,
      readerOf: (oid: number) => ReadColumn['read'] | undefined,
      type: string,
    ): ReadColumn[] => {
      const at = placeOf(name);
      const read = readerOf(fields[at]?.dataTypeID ?? 0);
      if (at < 0) problems.push(`the statement returns no column \`${name}\`; it returns ${listed}`);
      else if (read === undefined) problems.push(`the column \`${name}\` has no values of the type ${type}`);
      return read === undefined ? [] : [{ name, at, read }];
    };
    const places = this.#view.keys.map((name) => {
      const at = placeOf(name);
      if (at >= 0) return at;
      throw new Error(`the statement returns no column \`${name}\`, the key; it returns ${listed}`);
    });
    const columns = Array.from(this.#view.features, ([name, type]) =>
      columnOf(name, (oid) => cellReader(oid, type), type.kind),
    ).flat();
    const [time] = this.#time === undefined ? [] : columnOf(this.#time, timeReader, 'timestamp');
    return { places, columns, time, problems };
  }

  /** For `millrace validate --connect`: asks for the columns of the statement, and for no row. */
  async #ask(signal: AbortSignal): Promise<string> {
    const answer = await this.#database.request({
      statement: `select * from (\n${this.#statement}\n) as asked limit 0`,
      values: this.#view.keys.map(() => '{}'),
      most: 1,
      signal,
      timeoutMs: PROBE_MS,
    });
    const help = 'check the statement, and the names and types under `features:`';
    let problem: string | undefined;
    try {
      [problem] = this.#columnsOf(answer).problems;
    } catch (error) {
      problem = (error as Error).message;
    }
    if (problem !== undefined) throw new ProbeError(problem, help);
    return `it answers; the statement returns ${answer.fields.map(({ name }) => name).join(', ')}`;
  }
}

/** A value that cannot be read is a text of which the runtime says that it does not fit. */
function valueOf(cell: string | null | undefined, read: ReadColumn['read']): unknown {
  if (cell === null || cell === undefined) return null;
  try {
    return read(cell);
  } catch {
    return { unreadable: true };
  }
}
