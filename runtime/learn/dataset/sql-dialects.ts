/** What the engines write in different ways. An expression gets SQL and returns SQL. */
export interface SqlDialect {
  /** What has to run first. */
  readonly prologue: string;
  /** What has to run before `others` can be used; quoted names cannot be used after it. */
  readonly patterns: string;
  /** Makes a view of the Parquet files of a folder; their columns may differ. */
  readonly source: (view: string, folder: string) => string;
  /** The begin of a statement that makes a view. */
  readonly view: string;
  readonly text: (value: string) => string;
  /** A name of a column that is no word. */
  readonly quoted: (name: string) => string;
  /** Epoch milliseconds of a timestamp. */
  readonly millis: (timestamp: string) => string;
  /** The timestamp, in UTC, of epoch milliseconds. */
  readonly timestamp: (millis: string) => string;
  /** An item, from 0, of a JSON list of texts; null if there is none. */
  readonly item: (list: string, at: number) => string;
  /** The first item of a JSON list of texts that starts with a text; null if there is none. */
  readonly starting: (list: string, start: string) => string;
  /** The first 32 bits of the MD5 of a text, as a whole number. */
  readonly hash: (text: string) => string;
  readonly struct: (fields: readonly (readonly [name: string, value: string])[]) => string;
  /** All columns of a table, or of the only table, but for these and statuses. */
  readonly others: (names: readonly string[], table?: string) => string;
  /** Writes the rows of a query to a place without an ending. The rows of a request stay together, in order. */
  readonly write: (columns: string, from: string, place: string) => string;
}

const STATUS = '#status';
const ORDER = ['time', 'request_id', 'place'].join(', ');
const quote = (value: string): string => `'${value.replaceAll("'", "''")}'`;

const duckdb: SqlDialect = {
  prologue: '',
  patterns: '',
  source: (view, folder) =>
    `CREATE OR REPLACE VIEW ${view} AS SELECT * FROM read_parquet(${quote(`${folder}/**/*.parquet`)}, union_by_name = true, hive_partitioning = true, hive_types_autocast = false);`,
  view: 'CREATE OR REPLACE VIEW',
  text: quote,
  quoted: (name) => `"${name.replaceAll('"', '""')}"`,
  millis: (timestamp) => `epoch_ms(${timestamp})`,
  timestamp: (millis) => `epoch_ms(${millis}) AT TIME ZONE 'UTC'`,
  item: (list, at) => `from_json(${list}, '["VARCHAR"]')[${at + 1}]`,
  starting: (list, start) =>
    `list_filter(from_json(${list}, '["VARCHAR"]'), lambda item: starts_with(item, ${quote(start)}))[1]`,
  hash: (text) => `('0x' || md5(${text})[1:8])::BIGINT`,
  struct: (fields) => `struct_pack(${fields.map(([name, value]) => `${name} := ${value}`).join(', ')})`,
  others: (names, table) =>
    table === undefined
      ? `COLUMNS(lambda name: name NOT IN (${names.map(quote).join(', ')}) AND NOT ends_with(name, ${quote(STATUS)}))`
      : `${table}.* EXCLUDE (${names.join(', ')})`,
  write: (columns, from, place) =>
    `COPY (SELECT ${columns} FROM ${from} ORDER BY ${ORDER}) TO ${quote(`${place}.parquet`)} (FORMAT parquet);`,
};

const sparkText = (value: string): string =>
  `'${value.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;

const spark: SqlDialect = {
  prologue: `SET spark.sql.parser.quotedRegexColumnNames=false;
SET spark.sql.caseSensitive=true;
SET spark.sql.session.timeZone=UTC;
SET spark.sql.sources.partitionColumnTypeInference.enabled=false;
SET spark.sql.parquet.outputTimestampType=TIMESTAMP_MICROS;
`,
  patterns: '\nSET spark.sql.parser.quotedRegexColumnNames=true;',
  source: (view, folder) =>
    `CREATE OR REPLACE TEMPORARY VIEW ${view} USING parquet OPTIONS (path ${sparkText(folder)}, mergeSchema 'true');`,
  view: 'CREATE OR REPLACE TEMPORARY VIEW',
  text: sparkText,
  quoted: (name) => `\`${name}\``,
  millis: (timestamp) => `unix_millis(${timestamp})`,
  timestamp: (millis) => `timestamp_millis(${millis})`,
  item: (list, at) => `get(from_json(${list}, 'array<string>'), ${at})`,
  starting: (list, start) =>
    `get(filter(from_json(${list}, 'array<string>'), item -> startswith(item, ${sparkText(start)})), 0)`,
  hash: (text) => `CAST(conv(substr(md5(${text}), 1, 8), 16, 10) AS BIGINT)`,
  struct: (fields) => `named_struct(${fields.map(([name, value]) => `'${name}', ${value}`).join(', ')})`,
  others: (names, table) =>
    `${table === undefined ? '' : `${table}.`}\`(?!(?:${names.join('|')})$)(?!.*${STATUS}$).+\``,
  write: (columns, from, place) =>
    `INSERT OVERWRITE DIRECTORY ${sparkText(`${place}.parquet`)} USING parquet SELECT ${columns} FROM ${from} DISTRIBUTE BY request_id SORT BY ${ORDER};`,
};

export const SQL_DIALECTS = { duckdb, spark };
