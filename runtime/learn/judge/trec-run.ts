import { readRunRow } from '../evaluation/text-rows.js';
import type { Console } from '../../ground/core/console.js';
import { InputError } from '../../project/rows/rows.js';
import { readTextLines } from '../../project/rows/text-lines.js';
import type { Scored } from './rank-judged.js';

/** Reads a TREC run: the scored candidates of each query. @throws InputError */
export async function readTrecRun(
  { stdin }: Console,
  path: string,
): Promise<ReadonlyMap<string, readonly Scored[]>> {
  const queries = new Map<string, Map<string, Scored>>();
  for await (const { line, text } of readTextLines(path, stdin)) {
    const row = readRunRow(text);
    if (typeof row === 'string') throw new InputError(`${path}: line ${line}: ${row}`);
    const { query, id, score } = row;
    let ranked = queries.get(query);
    if (ranked === undefined) queries.set(query, (ranked = new Map<string, Scored>()));
    if (ranked.has(id))
      throw new InputError(`${path}: line ${line}: the query ${query} has ${JSON.stringify(id)} twice`);
    ranked.set(id, { id, score });
  }
  if (queries.size === 0) throw new InputError(`${path} has no lines of a TREC run`);
  return new Map(Array.from(queries, ([query, ranked]) => [query, [...ranked.values()]]));
}

/**
 * The lines of a TREC run. The scores fall with the rank, since a rule can place a candidate apart from its score.
 * White space in a query or an id becomes `_`, because the format has no quotes.
 */
export function trecRunLines(query: string, ranked: readonly Scored[], tag: string): string {
  const word = (text: string): string => text.replace(/\s+/g, '_');
  return ranked
    .map(({ id }, at) => `${word(query)} Q0 ${word(id)} ${at + 1} ${ranked.length - at} ${word(tag)}\n`)
    .join('');
}
