// `npm run generate` writes this file from reader.schema.json.
import type { ProjectFile } from 'millrace/api';

export interface Options {
  /**
   * The address of the database, e.g. ${STOCK_DATABASE} or
   * postgres://reader:${PG_PASSWORD}@pg:5432/shop. MILLRACE_MODEL_HOSTS must list its host.
   * `?sslmode=require` encrypts the connection, `?sslmode=verify-full` also checks the certificate.
   */
  readonly url: string;
  /**
   * The select statement, e.g. select product_id, amount from stock where product_id = any($1). $1 is
   * the list of ids; for a view of several entity types, $1, $2 … are lists of equal length.
   */
  readonly query?: string;
  /** An SQL file of the project with the statement, instead of `query`. */
  readonly query_file?: ProjectFile;
  /**
   * The column with the event time of a row, for the `ttl` of the view: a timestamp, a date, or epoch
   * milliseconds. Without it, a row is as old as its read.
   */
  readonly time?: string;
  /** The maximum number of connections, and so of statements at a time. */
  readonly connections: number;
}
