// `npm run generate` writes this file from options.schema.json.
import type { Input, ProjectFile } from 'millrace/api';

export interface Options {
  /**
   * The address of the database, e.g. postgres://reader:${PG_PASSWORD}@pg:5432/shop.
   * MILLRACE_MODEL_HOSTS must list its host. `?sslmode=require` encrypts the connection,
   * `?sslmode=verify-full` also checks the certificate.
   */
  readonly url: string;
  /** The select statement. $1, $2 … are the values of `params`. It returns the best candidate first. */
  readonly query?: string;
  /** An SQL file of the project with the statement, instead of `query`. */
  readonly query_file?: ProjectFile;
  /**
   * Values of the request, bound to $1, $2 …, e.g. [query.query, 300]: texts, numbers, lists and
   * vectors. One that is not known is null.
   */
  readonly params: readonly Input[];
  /** The column with the candidate's id. */
  readonly id: string;
  /** The columns that become outputs, e.g. [score]: numbers and booleans. */
  readonly outputs: readonly string[];
  /** The maximum number of connections, and so of statements at a time. */
  readonly connections: number;
}
