import { YAML_WORDS } from '../model/yaml-keys.generated.js';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { placeOf } from '../project/project-files.js';
import type { Located, SourceFile } from '../yaml/source.js';
import { boostOf, isoTime, oneOf, readCells, readLines } from './csv-cells.js';
import type { CsvRecord } from './csv-fields.js';
import { readActivity } from './read-rule.js';
import type { Acts, CurationList, CurationRule } from '../model/curation.js';
import { NO_ACTS, type ActName } from './read-acts.js';

/** The columns of a file, in any order. A file may leave out those that it does not need. */
export const CSV_COLUMNS = ['query', 'match', 'action', 'target', 'value', 'from', 'until', 'note'] as const;
type Column = (typeof CSV_COLUMNS)[number];
type Row = Partial<Record<Column, Located<string>>>;

const NEEDED = ['action', 'target'] as const;
const ACTIONS = ['pin', 'hide', 'boost', 'bury'] as const satisfies readonly ActName[];
const MATCHES = [...YAML_WORDS['curation.rules.match'], 'when'] as const;

/** Reads the rules of a CSV file, also one that a spreadsheet wrote: one action a line. Errors go to `diagnostics`, each with its field. */
export function readCurationCsv(file: SourceFile, diagnostics: Diagnostics): CurationList {
  const name = /([^/]*)\.csv$/.exec(file.path)?.[1] ?? file.path;
  const at = { file, start: 0, end: 0 };
  const list = (rules: readonly CurationRule[]): CurationList => ({ name, file, at, rules });
  if (!NAME_PATTERN.test(name))
    diagnostics.error(
      'invalid_name',
      placeOf(file.path),
      `\`${name}\` is not the name of a list`,
      'rename the file; a name has small letters, digits and underscores, and starts with a letter',
    );
  const read = readLines(file, CSV_COLUMNS, NEEDED, diagnostics);
  if (read === undefined) return list([]);
  const rules = read.lines.map((line, index) => {
    const row = readCells(line, read.columns, diagnostics);
    return readRule(row, line, `${name}:${index + 1}`, diagnostics);
  });
  return list(rules);
}

function readRule(row: Row, { at }: CsvRecord, name: string, diagnostics: Diagnostics): CurationRule {
  const match = oneOf('match', row.match, MATCHES, diagnostics) ?? 'equals';
  if (row.match !== undefined && row.query === undefined)
    diagnostics.error(
      'missing_key',
      row.match.at,
      '`match` has no effect without `query`',
      'fill in `query`, or leave `match` empty',
    );
  const rule: CurationRule = {
    name,
    at,
    note: row.note?.value,
    query: row.query && match !== 'when' ? { text: row.query, match: match } : undefined,
    when: match === 'when' ? row.query : undefined,
    ...readActivity({ at, from: timeOf(row.from), until: timeOf(row.until) }, diagnostics),
    ...readAction(row, at, diagnostics),
  };
  return rule;
}

const timeOf = (cell: Located<string> | undefined): Located<string> | undefined =>
  cell && { ...cell, value: isoTime(cell.value) };

function readAction(row: Row, at: CsvRecord['at'], diagnostics: Diagnostics): Acts {
  const { action, target, value } = row;
  const kind = oneOf('action', action, ACTIONS, diagnostics);
  if (action === undefined)
    diagnostics.error('missing_key', at, '`action` is empty', `the actions are ${ACTIONS.join(', ')}`);
  if (kind === undefined) return NO_ACTS;
  if (target === undefined) {
    diagnostics.error(
      'missing_key',
      action?.at ?? at,
      '`target` is empty',
      kind === 'pin' || kind === 'hide' ? 'write the id of a candidate' : 'write a condition on a candidate',
    );
    return NO_ACTS;
  }
  if ((kind === 'hide' || kind === 'bury') && value !== undefined)
    diagnostics.error('unknown_key', value.at, `\`${kind}\` takes no value`, 'leave `value` empty');
  switch (kind) {
    case 'pin':
      if (value !== undefined && /^[1-9]\d{0,8}$/.test(value.value))
        return { ...NO_ACTS, pins: [{ position: Number(value.value), id: target }] };
      diagnostics.error(
        'wrong_type',
        (value ?? action)?.at ?? at,
        `\`value\`: expected a position, found ${value === undefined ? 'nothing' : `\`${value.value}\``}`,
        'write a whole number from 1',
      );
      return NO_ACTS;
    case 'hide':
      return { ...NO_ACTS, hides: [target] };
    case 'bury':
      return { ...NO_ACTS, buries: [target] };
    case 'boost': {
      const boost = boostOf(value?.value ?? '');
      if (boost !== undefined) return { ...NO_ACTS, boosts: [{ where: target, ...boost }] };
      diagnostics.error(
        'wrong_type',
        (value ?? action)?.at ?? at,
        `\`value\`: expected a factor or a sum, found ${value === undefined ? 'nothing' : `\`${value.value}\``}`,
        'write 1.5 or *1.5 to multiply the score, +2 or -2 to add to it',
      );
      return NO_ACTS;
    }
  }
}
