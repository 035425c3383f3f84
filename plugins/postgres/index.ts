import { createRequire } from 'node:module';
import {
  defineReader,
  definePlugin,
  type JsonObject,
  type RetrieverComponent,
  sendTwice,
} from 'millrace/api';
import { openDatabase, statementOf } from './open-database.js';
import { paramOf, valueOf } from './param.js';
import { RowReader } from './row-reader.js';
import { probeStatement } from './statement-probe.js';
import type { Options } from './options.generated.js';
import type { Options as ReaderOptions } from './reader.generated.js';
import { ViewReader } from './view-reader.js';

const require = createRequire(import.meta.url);

export const plugin = definePlugin<Options>({
  name: 'postgres',
  kind: 'retriever',
  summary: 'Asks PostgreSQL by an SQL statement: full text, trigrams, or vectors with pgvector.',
  options: require('./options.schema.json') as JsonObject,
  create(options, build): RetrieverComponent {
    const { params, outputs } = options;
    const statement = statementOf(options);
    const { database, server } = openDatabase(options, build, 'retriever');
    const reader = new RowReader(options);
    const probe = probeStatement(database, statement, params.length, reader, server);
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

export const reader = defineReader<ReaderOptions>({
  name: 'postgres',
  summary: 'Reads rows of PostgreSQL by an SQL statement with the keys.',
  options: require('./reader.schema.json') as JsonObject,
  create: (options, context) =>
    new ViewReader(options, statementOf(options), context, openDatabase(options, context, 'reader')),
});
