import { groupsLists } from '../../../project/foreign/grouped-rows.js';
import type { ColumnProfile } from '../../../project/foreign/profile.js';
import type { SampledColumns } from '../../../project/foreign/sampled-columns.js';

/** Finds the columns that identify a request. There are none if the rows do not tell which were shown together. */
export function requestColumns(
  columns: SampledColumns,
  item: ColumnProfile,
  time: ColumnProfile | undefined,
  position: ColumnProfile | undefined,
  user: ColumnProfile | undefined,
): { readonly request?: readonly string[]; readonly notes: readonly string[] } {
  const own = columns.find('request');
  const session = columns.find('session');
  const keys = [[own], [session, time], [session], [user, time], [time]].flatMap((key) =>
    key.every((column) => column !== undefined) ? [key.map(({ path }) => path)] : [],
  );
  const request = keys.find((key) => groupsLists(columns.rows, key, item.path, position?.path));
  if (request !== undefined) {
    columns.use(...request);
    const notes =
      own === undefined
        ? [
            `No column is the id of a request: rows with the same ${request.join(' and ')} count as one request.`,
          ]
        : [];
    return { request, notes };
  }
  return {
    notes: [
      ...(own === undefined ? [] : [`${own.path} differs in nearly every row, so it is no request.`]),
      'The rows do not tell which candidates were shown together. They are pooled into lists in the order of the file.',
      'Such a list compares candidates that different users saw. Values of the user go with the candidate.',
    ],
  };
}
