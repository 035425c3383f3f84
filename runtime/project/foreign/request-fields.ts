import { NAME_PATTERN } from '../../ground/api/types.js';
import { NOT_KNOWN_IN_ADVANCE, ROLES } from './column-roles.js';
import { isFeature } from './column-shapes.js';
import { isLater } from './grouped-rows.js';
import { bestFit, plainName } from './name-fit.js';
import type { SampledColumns } from './sampled-columns.js';

/** Splits the columns without a role by whether a model can read them when a request is served. */
export function columnsInAdvance(columns: SampledColumns): {
  readonly known: readonly string[];
  readonly later: readonly string[];
} {
  const flags = Object.values(columns.flags());
  const unused = columns.unused();
  const later = unused.filter(
    ({ path }) => NOT_KNOWN_IN_ADVANCE.test(plainName(path)) || isLater(columns.rows, path, flags),
  );
  const known = unused.filter((column) => !later.includes(column) && isFeature(column));
  return { known: known.map(({ path }) => path), later: later.map(({ path }) => path) };
}

/**
 * Names fields for columns.
 * @param known the fields that the pipeline has; undefined: it gets one for each column
 */
export function fieldsFor(
  paths: readonly string[],
  known: ReadonlySet<string> | undefined,
): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const path of paths) {
    const isQuery = bestFit([path], ROLES.query) !== undefined && (known === undefined || known.has('query'));
    const field = isQuery && fields.query === undefined ? 'query' : fieldName(path);
    if (field !== undefined && (known === undefined || known.has(field)) && fields[field] === undefined)
      fields[field] = path;
  }
  return fields;
}

/** The name of a field or attribute for a column, in the grammar of names; undefined if there is none. */
export function fieldName(path: string): string | undefined {
  if (NAME_PATTERN.test(path)) return path;
  const name = plainName(path).replace(/^(\d)/, 'c_$1');
  return NAME_PATTERN.test(name) ? name : undefined;
}
