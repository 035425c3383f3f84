import { OptionError, type OutboundHttp, type ProjectFile } from 'millrace/api';
import { addressOf } from './address.js';
import { Database } from './database.js';

/** The options that say which database is asked. */
export interface DatabaseOptions {
  readonly url: string;
  readonly connections: number;
}

/** What a plugin of any kind may use to open it. */
interface Opener {
  readonly http: OutboundHttp;
  findPackage(name: string): string | undefined;
}

/**
 * Makes a pool of connections. It does not connect.
 * @param what e.g. `retriever`
 * @throws OptionError
 */
export function openDatabase(
  options: DatabaseOptions,
  opener: Opener,
  what: string,
): { readonly database: Database; readonly server: string } {
  const { url, address } = addressOf(options.url);
  const client = opener.findPackage('pg');
  if (client === undefined)
    throw new OptionError(
      [],
      `the ${what} needs the npm package pg, which is not installed`,
      'run `npm install pg@8` in the project, or beside Millrace',
    );
  try {
    const guard = opener.http.guard(url);
    const database = new Database(client, { ...address, connections: options.connections }, guard);
    return { database, server: url.host };
  } catch (error) {
    throw new OptionError(['url'], (error as Error).message);
  }
}

/** @throws OptionError */
export function statementOf({
  query,
  query_file: file,
}: {
  readonly query?: string;
  readonly query_file?: ProjectFile;
}): string {
  if ((query === undefined) === (file === undefined))
    throw new OptionError(
      query === undefined ? [] : ['query_file'],
      query === undefined ? 'there is neither `query` nor `query_file`' : 'there is a `query` already',
      query === undefined
        ? 'write the statement, e.g. query: select id from products limit 300'
        : 'remove one of the two',
    );
  // What follows the statement in the probe would be a second statement.
  return (query ?? file?.content.toString('utf8') ?? '').replace(/[\s;]+$/, '');
}
