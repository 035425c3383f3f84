import { createRequire } from 'node:module';
import { definePlugin, type JsonObject, OptionError, type RetrieverComponent, sendTwice } from 'millrace/api';
import { addressOf } from './address.js';
import { Database } from './database.js';
import { paramOf, valueOf } from './param.js';
import { RowReader } from './row-reader.js';
import { probeStatement } from './statement-probe.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'postgres',
  kind: 'retriever',
  summary: 'Asks PostgreSQL by an SQL statement: full text, trigrams, or vectors with pgvector.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create(options, build): RetrieverComponent {
    const { params, outputs, connections } = options;
    const statement = statementOf(options);
    const { url, address } = addressOf(options.url);
    const client = build.findPackage('pg');
    if (client === undefined)
      throw new OptionError(
        [],
        'the retriever needs the npm package pg, which is not installed',
        'run `npm install pg@8` in the project, or beside Millrace',
      );
    let guard;
    try {
      guard = build.http.guard(url);
    } catch (error) {
      throw new OptionError(['url'], (error as Error).message);
    }
    const database = new Database(client, { ...address, connections }, guard);
    const reader = new RowReader(options);
    const probe = probeStatement(database, statement, params.length, reader, url.host);
    return {
      outputs: Object.fromEntries(outputs.map((name) => [name, 'number'] as const)),
      probe,
      async retrieve({ column, most, signal, timeoutMs, trace }) {
        const found = params.map((input) => valueOf(column(input)));
        const values = await Promise.all(found.map(paramOf));
        const ask = { statement, values, most, signal, timeoutMs, trace };
        return reader.read(await sendTwice(database, ask));
      },
      close: () => database.close(),
    };
  },
});

/** @throws OptionError */
function statementOf({ query, query_file: file }: Options): string {
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
