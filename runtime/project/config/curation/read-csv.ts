import { YAML_WORDS } from '../model/yaml-keys.generated.js';
import { didYouMean, nearest } from '../../../ground/core/nearest.js';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { placeOf } from '../project/project-files.js';
import type { Located, SourceFile } from '../yaml/source.js';
import { readCsvFields, type CsvRecord } from './csv-fields.js';
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
const HEADER = CSV_COLUMNS.join(',');

/** Reads the rules of a CSV file: one action a line. Errors go to `diagnostics`, each with its field. */
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
  const records = readCsvFields(file);
  if ('reason' in records) {
    diagnostics.error(
      'csv_syntax',
      records.at,
      records.reason,
      'put text with quotes or commas in double quotes',
    );
    return list([]);
  }
  const [header, ...lines] = records;
  if (header === undefined) {
    diagnostics.error('csv_syntax', at, 'the file has no header', `start it with the line ${HEADER}`);
    return list([]);
  }
  const columns = readHeader(header, diagnostics);
  if (columns === undefined) return list([]);
  const rules = lines.map((line, index) => {
    if (line.fields.length > columns.length)
      diagnostics.error(
        'csv_syntax',
        line.fields[columns.length]?.at ?? line.at,
        `the line has ${line.fields.length} fields, the header ${columns.length}`,
        'put text that has commas in double quotes',
      );
    const row: Row = {};
    for (const [place, column] of columns.entries()) {
      const field = line.fields[place];
      if (field !== undefined && field.value !== '') row[column] = field;
    }
    return readRule(row, line, `${name}:${index + 1}`, diagnostics);
  });
  return list(rules);
}

function readHeader({ fields, at }: CsvRecord, diagnostics: Diagnostics): readonly Column[] | undefined {
  const separator = fields.length === 1 ? /[;\t]/.exec(fields[0]?.value ?? '')?.[0] : undefined;
  if (separator !== undefined) {
    diagnostics.error(
      'csv_syntax',
      at,
      `the columns are separated by ${separator === ';' ? 'semicolons' : 'tabs'}`,
      'separate them by commas',
    );
    return undefined;
  }
  const seen = new Set<string>();
  let isSound = true;
  for (const { value, at: place } of fields) {
    const isKnown = (CSV_COLUMNS as readonly string[]).includes(value);
    if (isKnown && !seen.has(value)) {
      seen.add(value);
      continue;
    }
    isSound = false;
    const guess = nearest(value, CSV_COLUMNS);
    diagnostics.error(
      isKnown ? 'duplicate_name' : 'unknown_key',
      place,
      isKnown ? `the column \`${value}\` occurs twice` : `there is no column \`${value}\``,
      isKnown || guess === undefined ? `the columns are ${HEADER}` : `did you mean \`${guess}\`?`,
    );
  }
  for (const column of NEEDED) {
    if (seen.has(column) || !isSound) continue;
    isSound = false;
    diagnostics.error('missing_key', at, `the column \`${column}\` is missing`, `the columns are ${HEADER}`);
  }
  return isSound ? fields.map(({ value }) => value as Column) : undefined;
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
    ...readActivity({ at, from: row.from, until: row.until }, diagnostics),
    ...readAction(row, at, diagnostics),
  };
  return rule;
}

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
      const [, sign, number] = /^([*+-]?)(\d+(?:\.\d+)?)$/.exec(value?.value ?? '') ?? [];
      const isAdded = sign === '+' || sign === '-';
      const amount = Number(isAdded ? `${sign}${number ?? ''}` : number);
      if (number !== undefined && (isAdded || amount > 0))
        return { ...NO_ACTS, boosts: [{ where: target, change: isAdded ? 'add' : 'multiply', amount }] };
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

function oneOf<T extends string>(
  column: string,
  field: Located<string> | undefined,
  words: readonly T[],
  diagnostics: Diagnostics,
): T | undefined {
  if (field === undefined) return undefined;
  const found = words.find((word) => word === field.value);
  if (found !== undefined) return found;
  diagnostics.error(
    'wrong_type',
    field.at,
    `\`${column}\`: expected ${words.join(', ')}, found \`${field.value}\``,
    didYouMean(field.value, words) ?? `write one of ${words.join(', ')}`,
  );
  return undefined;
}
