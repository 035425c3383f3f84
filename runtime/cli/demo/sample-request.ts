import type { JsonObject } from '../../ground/api/types.js';
import type { Catalogue, DemoProduct } from './catalogue.js';

export const CANDIDATES = 24;
export const PAGE = 8;
export const SAMPLE_QUERY = 'wireless headphones';
/** This user likes a brand in the middle of the page, so a change of that preference's weight is visible. */
export const SAMPLE_USER = 'u44';

/** The request that the demo sends: the results of a simple search, in their order. */
export function sampleRequest(catalogue: Catalogue): JsonObject {
  const candidates = find(catalogue.products, SAMPLE_QUERY.split(' '));
  return {
    request_id: 'demo-1',
    query: { query: SAMPLE_QUERY },
    user: { user_id: SAMPLE_USER },
    candidates: candidates.map((product) => ({ product_id: product.product_id })),
    user_page: 0,
    user_page_size: PAGE,
    candidate_page: 0,
    candidate_page_size: candidates.length,
  };
}

/** Returns products whose title contains any of the words, evenly spread over the catalogue. */
function find(products: readonly DemoProduct[], words: readonly string[]): readonly DemoProduct[] {
  const found = products.filter((product) => words.some((word) => product.title.includes(word)));
  const step = Math.max(1, Math.floor(found.length / CANDIDATES));
  return found.filter((_, at) => at % step === 0).slice(0, CANDIDATES);
}

/** Formats the request as a shell command that can be pasted unchanged. No line is wider than 80 columns. */
export function curlCommand(url: string, request: JsonObject): string {
  const { candidates, ...rest } = request as JsonObject & { readonly candidates: readonly JsonObject[] };
  const lines = Object.entries(rest).map(
    ([name, value]) => ` ${JSON.stringify(name)}: ${JSON.stringify(value)},`,
  );
  const ids = candidates.map((candidate) => JSON.stringify(candidate));
  const rows: string[] = [];
  for (let at = 0; at < ids.length; at += 3) rows.push(`  ${ids.slice(at, at + 3).join(', ')}`);
  return [
    `curl -s ${url} \\`,
    "  -H 'content-type: application/json' -d '{",
    ...lines,
    ' "candidates": [',
    rows.join(',\n'),
    " ]}'",
  ].join('\n');
}
