import { parse } from 'csv-parse/sync';
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';

/** A query with the products that people graded for it. */
export interface JudgedQuery {
  readonly query: string;
  /** Product id → grade, 0 (irrelevant) to 3. */
  readonly grades: ReadonlyMap<string, number>;
}

/** Reads a CSV file with the columns query, docid and rating. Queries without a positive grade are left out. */
export function readJudgedQueries(path: string): JudgedQuery[] {
  const rows: Record<'query' | 'docid' | 'rating', string>[] = parse(readFileSync(path), { columns: true });
  const queries = new Map<string, Map<string, number>>();
  for (const { query, docid, rating } of rows) {
    const grades = queries.get(query) ?? new Map<string, number>();
    queries.set(query, grades.set(docid, Number(rating)));
  }
  return [...queries]
    .map(([query, grades]) => ({ query, grades }))
    .filter(({ grades }) => [...grades.values()].some((grade) => grade > 0));
}

/** Yields the lines of a gzipped JSON lines file, in batches of JSON texts. */
export async function* readBatches(path: string, size: number): AsyncGenerator<string[]> {
  const lines = createInterface({ input: createReadStream(path).pipe(createGunzip()), crlfDelay: Infinity });
  let batch: string[] = [];
  for await (const line of lines) {
    if (line === '') continue;
    batch.push(line);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
