import {
  EXPERIMENT_FIELDS,
  EXPLORE_FIELDS,
  TEAM_FIELD,
} from '../../runtime/state/ledger/experiment-columns.js';
import type { Field } from '../../runtime/state/ledger/fields.js';
import { CUSTOM_FIELD, RANKING_FIELDS } from '../../runtime/state/ledger/ranking-fields.js';
import { markdownTable } from './markdown-table.js';

/** The fields of a ranking in the ledger. */
export function rankingFieldTable(): string {
  const parts: readonly (readonly [part: string, fields: readonly Field[]])[] = [
    ['request', RANKING_FIELDS.record],
    ['request that a service ran', [CUSTOM_FIELD]],
    ['request of a pipeline with experiments', EXPERIMENT_FIELDS],
    ['candidate', RANKING_FIELDS.candidate],
    ['candidate of an interleaving', [TEAM_FIELD]],
    ['candidate of a pipeline that explores', EXPLORE_FIELDS],
    ['change', RANKING_FIELDS.change],
  ];
  const shown = (fields: readonly Field[]): string =>
    fields.map(([name, type, nullable]) => `\`${name}\` ${type}${nullable ? '?' : ''}`).join(', ');
  return markdownTable(
    ['row for each', 'fields'],
    parts.map(([part, fields]) => [part, shown(fields)]),
  );
}
