import { AS_WORD, didYouMean } from '../../ground/core/nearest.js';
import type { JudgedQuery } from '../evaluation/judgments.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import type { Contestant } from './contestant.js';
import type { RequestShape } from './request-shape.js';

/** The slice of queries without a value. */
const NO_VALUE = '(none)';
const BATCH = 500;

/**
 * Finds the slice of each query: the value in a column of the judgments, or else an attribute of the query's entity in
 * the store.
 * @throws CommandFailure if there is no such column or attribute
 */
export async function slicesOf(
  queries: readonly JudgedQuery[],
  attribute: string,
  columns: readonly string[] | undefined,
  { project }: Contestant,
  { queryType }: RequestShape,
): Promise<ReadonlyMap<string, string>> {
  if (columns?.includes(attribute))
    return new Map(queries.map(({ query, context }) => [query, textOf(context[attribute])]));
  const entity = queryType === undefined ? undefined : project.config.entities.get(queryType);
  if (entity?.attributes.has(attribute) !== true) {
    const names = [...(columns ?? []), ...(entity?.attributes.keys() ?? [])];
    throw new CommandFailure(
      `--slice ${attribute}: the judgments have no such column` +
        (queryType === undefined ? '' : `, and ${queryType} has no such attribute`),
      didYouMean(attribute, names, AS_WORD),
    );
  }
  const slices = new Map<string, string>();
  for (let from = 0; from < queries.length; from += BATCH) {
    const ids = queries.slice(from, from + BATCH).map(({ query }) => query);
    const { entities } = await project.entities.get({ entity_type: entity.name, entity_ids: ids });
    for (const id of ids) slices.set(id, textOf(entities[id]?.[attribute]));
  }
  return slices;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null || value === '') return NO_VALUE;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
