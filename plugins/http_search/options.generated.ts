// `npm run generate` writes this file from options.schema.json.
import type { JsonObject, ProjectFile } from 'millrace/api';

export interface Options {
  /**
   * The address that gets a POST for each request, e.g. https://os:9200/products/_search.
   * MILLRACE_MODEL_HOSTS must list its host.
   */
  readonly url: string;
  /**
   * The JSON body. A mapping { expr: query.query } anywhere in it is replaced by the value of an
   * expression on the request, as a JSON value; one that is not known is null.
   */
  readonly body?: JsonObject;
  /** A JSON file of the project with the body, instead of `body`. */
  readonly body_file?: ProjectFile;
  /**
   * The path of the list of hits in the answer, best first, e.g. hits.hits. A part of a path is a key,
   * or a position from 0.
   */
  readonly hits: string;
  /** The path of the candidate's id in a hit, e.g. _id: a text or a whole number. */
  readonly id: string;
  /** Numbers of each hit, by output, with their paths in the hit, e.g. score: _score. */
  readonly outputs: Readonly<Record<string, string>>;
  /**
   * Paths in the answer, e.g. timed_out. If a value there is true or a number above 0, the answer is not
   * whole, and the ranking is reported as degraded.
   */
  readonly partial: readonly string[];
  /** HTTP headers of every request, e.g. Authorization: Bearer ${SEARCH_TOKEN}. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The maximum number of connections, and so of requests at a time. */
  readonly connections: number;
  /**
   * The maximum size of an answer in bytes. It is parsed at once, and no other request is answered
   * meanwhile: ask for ids and numbers alone.
   */
  readonly max_bytes: number;
}
