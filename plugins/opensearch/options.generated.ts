// `npm run generate` writes this file from options.schema.json.
import type { JsonObject, ProjectFile } from 'millrace/api';

export interface Options {
  /** The address of the cluster, e.g. https://os:9200. MILLRACE_MODEL_HOSTS must list its host. */
  readonly url: string;
  /** The index, an alias, or a list such as shoes,bags-*. */
  readonly index: string;
  /**
   * The JSON body. A mapping { expr: query.query } anywhere in it is replaced by the value of an
   * expression on the request, as a JSON value; one that is not known is null.
   */
  readonly body?: JsonObject;
  /** A JSON file of the project with the body, instead of `body`. */
  readonly body_file?: ProjectFile;
  /** The most candidates to find. */
  readonly size: number;
  /**
   * Named queries of the body, by output, e.g. in_title: title_query. The output is the score of the
   * query with this _name, and 0 if it does not match.
   */
  readonly queries: Readonly<Record<string, string>>;
  /**
   * Features that the plugin Learning to Rank logs (ext.ltr_log), by output, e.g. bm25: title_bm25. A
   * feature without a value for a hit is absent.
   */
  readonly features: Readonly<Record<string, string>>;
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
