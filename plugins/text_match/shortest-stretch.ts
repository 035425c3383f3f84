/** By term: how often it occurs in the stretch. */
const inStretch = new Int32Array(32);

/**
 * How close the terms of a query stand to each other in a text: k / w · (k − 1) / (n − 1), if k of the n terms occur and
 * the shortest stretch that has all k is w tokens long. 1 if all terms are neighbours; 0 if at most one of several occurs.
 * For a query of one term it is 1 if the term occurs.
 * @param places the places of the matches in the text, ascending
 * @param terms the term of each match, less than 32
 * @param matches how many matches there are, at least 1
 */
export function shortestStretch(
  places: Int32Array,
  terms: Uint8Array,
  matches: number,
  queryTerms: number,
): number {
  if (queryTerms === 1) return 1;
  if (matches === 1) return 0;
  let distinct = 0;
  inStretch.fill(0);
  for (let i = 0; i < matches; i++) {
    const term = terms[i] as number;
    if (inStretch[term] === 0) distinct++;
    inStretch[term] = 1;
  }
  if (distinct < 2) return 0;
  inStretch.fill(0);
  let shortest = Infinity;
  let held = 0;
  let from = 0;
  for (let to = 0; to < matches; to++) {
    const term = terms[to] as number;
    const before = inStretch[term] as number;
    if (before === 0) held++;
    inStretch[term] = before + 1;
    while (held === distinct) {
      const width = (places[to] as number) - (places[from] as number) + 1;
      // Two terms of one compound have the same place.
      shortest = Math.min(shortest, Math.max(width, distinct));
      const left = terms[from] as number;
      const rest = (inStretch[left] as number) - 1;
      if (rest === 0) held--;
      inStretch[left] = rest;
      from++;
    }
  }
  return ((distinct / shortest) * (distinct - 1)) / (queryTerms - 1);
}
