import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { isJsonObject } from '../../ground/core/value-fit.js';
import { valueAt } from '../../ground/core/value-at.js';
import type { EnginePaths } from '../../project/config/model/fronts.js';

/** How an engine is asked, and where its answer has what a front needs. */
export interface Engine extends Omit<EnginePaths, 'search' | 'unless'> {
  /** The paths of searches, below the front's. */
  readonly searches: readonly string[];
  /** Of requests with several searches. */
  readonly multiSearches: readonly string[];
  /** Whether parameters of the address replace `from` and `size` of the body. */
  readonly hasParams: boolean;
  /** What in a search keeps the engine's order; undefined if its hits can be ranked. */
  unlessOf(body: JsonObject, params: URLSearchParams): string | undefined;
}

/** By score, which is the order without `sort`. */
function isByScore(sort: JsonValue): boolean {
  const list = Array.isArray(sort) ? (sort as readonly JsonValue[]) : [sort];
  if (list.length !== 1) return list.length === 0;
  const [only] = list;
  if (only === '_score') return true;
  if (!isJsonObject(only)) return false;
  const order = Object.hasOwn(only, '_score') && Object.keys(only).length === 1 ? only['_score'] : null;
  return order === 'desc' || (isJsonObject(order) && order['order'] === 'desc');
}

/** Keys of a body whose hits are not a list by score that can be asked for from its start. */
const OTHER_ORDERS = ['collapse', 'search_after', 'slice', 'rank', 'retriever'];
const OTHER_PARAMS = ['scroll', 'q'];

const OPENSEARCH: Engine = {
  searches: ['/_search', '/:index/_search'],
  multiSearches: ['/_msearch', '/:index/_msearch'],
  from: ['from'],
  size: ['size'],
  defaultSize: 10,
  hits: ['hits', 'hits'],
  id: ['_id'],
  hasParams: true,
  unlessOf(body, params) {
    const sort = params.get('sort');
    if (sort !== null ? !/^_score(:desc)?$/.test(sort) : !isByScore(body['sort'] ?? [])) return 'sort';
    return (
      OTHER_PARAMS.find((name) => params.has(name)) ?? OTHER_ORDERS.find((key) => Object.hasOwn(body, key))
    );
  },
};

/** @param paths of an engine that the product does not know */
export function engineOf(paths?: EnginePaths): Engine {
  if (paths === undefined) return OPENSEARCH;
  const { search, unless, ...others } = paths;
  return {
    ...others,
    searches: [search],
    multiSearches: [],
    hasParams: false,
    unlessOf: (body) => unless.find((path) => valueAt(body, path) !== undefined)?.join('.'),
  };
}
