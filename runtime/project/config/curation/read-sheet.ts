import { NAME_PATTERN, type JsonObject, type JsonValue } from '../../../ground/api/types.js';
import { isDate, momentOf } from '../../../ground/core/time-zone.js';
import { timestampOf } from '../../../ground/core/timestamp.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { YAML_WORDS } from '../model/yaml-keys.generated.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';
import { boostOf, isoTime, oneOf, readCells, readLines } from './csv-cells.js';
import type { CsvRecord } from './csv-fields.js';
import type { ActName } from './read-acts.js';

/** What the rows of one campaign have in common. */
const SHARED = ['from', 'until', 'category', 'query', 'match', 'when', 'note'] as const;
type Shared = (typeof SHARED)[number];

/** The columns of a sheet of campaigns, in any order. */
export const SHEET_COLUMNS = [
  'campaign',
  'from',
  'until',
  'category',
  'query',
  'match',
  'when',
  'action',
  'target',
  'value',
  'text',
  'link',
  'note',
] as const;
export type SheetColumn = (typeof SHEET_COLUMNS)[number];
type Row = Partial<Record<SheetColumn, Located<string>>>;

/** A cell as people find it. */
export interface SheetCell {
  readonly line: number;
  /** Its column; undefined for a fault of a whole line. */
  readonly column?: string;
  /** As spreadsheets name it, such as `J3`. */
  readonly cell?: string;
}

/** The campaigns of a sheet, as the API takes them. */
export interface CampaignSheet {
  /** Without those that have errors. */
  readonly campaigns: Readonly<Record<string, JsonObject>>;
  /** The cell that has a place of the file. */
  readonly cellAt: (at: Span) => SheetCell;
  /** The cell that an error of a campaign is about. @param key of the campaign @param message may quote what the cell has */
  readonly placeOf: (campaign: string, key: string, message: string) => Span | undefined;
}

/** A campaign, as far as its rows were read. */
interface Read {
  readonly line: number;
  readonly shared: Row;
  readonly acts: Record<string, JsonValue>;
  /** The cells of each key. */
  readonly cells: { readonly key: string; readonly cell: Located<string> }[];
  isSound: boolean;
}

/**
 * Reads a sheet of campaigns: one action a row. The rows of a campaign have its name; what they have in common stands in one of
 * them. A row without a name is a campaign of its own, named after its line. Errors go to `diagnostics`, each with its cell.
 * @param zone the time zone of times without an offset
 */
export function readSheet(file: SourceFile, zone: string, diagnostics: Diagnostics): CampaignSheet {
  const read = readLines(file, SHEET_COLUMNS, ['action'], diagnostics);
  const found = new Map<string, Read>();
  for (const line of read?.lines ?? []) {
    const row = readCells(line, read?.columns ?? [], diagnostics);
    const { line: number } = file.position(line.at.start);
    const name = row.campaign?.value ?? `row_${number}`;
    if (!NAME_PATTERN.test(name) || name.length > 100) {
      diagnostics.error(
        'invalid_name',
        row.campaign?.at ?? line.at,
        `\`${name.slice(0, 100)}\` is not the name of a campaign`,
        'write small letters, digits and underscores, such as black_friday',
      );
      continue;
    }
    let campaign = found.get(name);
    if (campaign === undefined)
      found.set(name, (campaign = { line: number, shared: {}, acts: {}, cells: [], isSound: true }));
    const before = diagnostics.all.length;
    share(campaign, row, zone, diagnostics);
    act(campaign, row, line, diagnostics);
    if (diagnostics.all.length > before) campaign.isSound = false;
  }
  const sound = [...found].filter(([, { isSound }]) => isSound);
  return {
    campaigns: Object.fromEntries(sound.map(([name, one]) => [name, campaignOf(one, zone)])),
    cellAt: (at) => cellAt(at, read?.lines ?? [], read?.columns ?? []),
    placeOf: (campaign, key, message) => {
      const cells = found.get(campaign)?.cells ?? [];
      const own = cells.filter((one) => one.key === key);
      const quoted = own.find(({ cell }) => message.includes(`\`${cell.value}\``));
      return (quoted ?? own[0] ?? cells[0])?.cell.at;
    },
  };
}

function cellAt(at: Span, lines: readonly CsvRecord[], columns: readonly string[]): SheetCell {
  const { line } = at.file.position(at.start);
  const of = lines.find((one) => one.at.start <= at.start && at.start <= one.at.end);
  const index = of === undefined || at === of.at ? -1 : of.fields.findIndex((one) => at.start <= one.at.end);
  const column = columns[index];
  if (column === undefined) return { line };
  return { line, column, cell: `${String.fromCharCode(65 + index)}${line}` };
}

/** Takes what the rows of a campaign have in common. */
function share({ line, shared, cells }: Read, row: Row, zone: string, diagnostics: Diagnostics): void {
  for (const column of SHARED) {
    const cell = row[column];
    if (cell === undefined) continue;
    const known = shared[column];
    if (known === undefined) {
      shared[column] = cell;
      cells.push({ key: column === 'from' || column === 'until' || column === 'note' ? column : 'on', cell });
      checkShared(column, cell, zone, diagnostics);
    } else if (known.value !== cell.value)
      diagnostics.error(
        'contradiction',
        cell.at,
        `\`${column}\` is \`${cell.value}\`, and \`${known.value}\` in another row of the campaign, which begins in line ${line}`,
        'leave it empty, or give the row the name of another campaign',
      );
  }
}

function checkShared(column: Shared, cell: Located<string>, zone: string, diagnostics: Diagnostics): void {
  if (column === 'match') oneOf('match', cell, YAML_WORDS['curation.rules.match'], diagnostics);
  if (column !== 'from' && column !== 'until') return;
  if (Number.isNaN(timestampOf(isoTime(cell.value))))
    diagnostics.error(
      'wrong_type',
      cell.at,
      `\`${column}\`: expected a day or a time, found \`${cell.value}\``,
      `write a day such as 27.11.2026 or 2026-11-27, which is whole in ${zone}, or a time such as 27.11.2026 20:00`,
    );
}

/** What a cell must have, by the action of its row: what is expected, and how it is read. Undefined: the cell stays empty. */
interface Wanted {
  readonly expected: string;
  readonly help: string;
  readonly optional?: true;
}
/** The columns that say what an action does. */
const ACT_COLUMNS = ['target', 'value', 'text', 'link'] as const;
type Cells = { readonly [Column in (typeof ACT_COLUMNS)[number]]?: Wanted };

const ID: Wanted = { expected: 'the id of a product', help: 'write the id' };
const WHERE: Wanted = { expected: 'a condition', help: 'write a condition such as product.brand == "lumen"' };

const ACTS: Readonly<Record<ActName, Cells>> = {
  pin: { target: ID, value: { expected: 'a place', help: 'write a whole number from 1' } },
  hide: { target: ID },
  boost: {
    target: WHERE,
    value: {
      expected: 'a factor or a sum',
      help: 'write 1,5 or *1.5 to multiply the score, +2 or -2 to add to it',
    },
  },
  bury: { target: WHERE },
  sponsor: {
    target: ID,
    value: { expected: 'places', help: 'write whole numbers from 1, such as 3 or 3, 5' },
    text: { expected: 'the label of the place', help: 'write a label such as Anzeige' },
  },
  banner: {
    target: { expected: 'an image', help: 'write its address', optional: true },
    value: { expected: 'where the banner is shown', help: 'write a name such as top' },
    text: { expected: 'a text', help: 'write the text', optional: true },
    link: { expected: 'a link', help: 'write its address', optional: true },
  },
};
const ACTIONS = Object.keys(ACTS) as readonly ActName[];

/** Takes the action of a row. */
function act(campaign: Read, row: Row, { at }: CsvRecord, diagnostics: Diagnostics): void {
  const action = oneOf('action', row.action, ACTIONS, diagnostics);
  if (row.action === undefined)
    diagnostics.error('missing_key', at, '`action` is empty', `write one of ${ACTIONS.join(', ')}`);
  if (action === undefined) return;
  const place = row.action?.at ?? at;
  let isSound = true;
  for (const column of ACT_COLUMNS) {
    const [cell, wanted] = [row[column], ACTS[action][column]];
    if (cell !== undefined && wanted === undefined)
      diagnostics.error(
        'unknown_key',
        cell.at,
        `\`${action}\` takes no \`${column}\``,
        'leave the cell empty',
      );
    else if (cell === undefined && wanted !== undefined && wanted.optional !== true)
      diagnostics.error(
        'missing_key',
        place,
        `\`${column}\` is empty: expected ${wanted.expected}`,
        wanted.help,
      );
    else continue;
    isSound = false;
  }
  if (!isSound) return;
  const value = valueOf(action, row);
  const { expected = '', help = '' } = ACTS[action].value ?? {};
  if (value === undefined)
    diagnostics.error(
      'wrong_type',
      row.value?.at ?? place,
      `\`value\`: expected ${expected}, found \`${row.value?.value ?? ''}\``,
      help,
    );
  else put(campaign, { action, value, row }, place, diagnostics);
}

/** What a campaign has under the name of an action. Undefined: the cell `value` is wrong. */
function valueOf(action: ActName, { target, value, text, link }: Row): JsonValue | undefined {
  const [id = '', cell = ''] = [target?.value, value?.value];
  switch (action) {
    case 'pin':
      return isPlace(cell) ? { [cell]: id } : undefined;
    case 'hide':
      return [id];
    case 'bury':
      return { where: id };
    case 'boost': {
      const boost = boostOf(cell);
      return boost && { where: id, [boost.change]: boost.amount };
    }
    case 'sponsor': {
      const places = itemsOf(cell);
      if (places.length === 0 || !places.every(isPlace)) return undefined;
      return { places: places.map(Number), product: id, label: text?.value ?? '' };
    }
    case 'banner':
      return {
        place: cell,
        ...(target && { image: id }),
        ...(link && { link: link.value }),
        ...(text && { text: text.value }),
      };
  }
}

/** Adds what a row does to what its campaign does. */
function put(
  { acts, cells }: Read,
  { action, value, row }: { readonly action: ActName; readonly value: JsonValue; readonly row: Row },
  place: Span,
  diagnostics: Diagnostics,
): void {
  const known = acts[action];
  if (action === 'hide')
    acts[action] = [...((known as readonly JsonValue[] | undefined) ?? []), row.target?.value ?? ''];
  else if (action === 'pin' && !Object.hasOwn((known ?? {}) as object, row.value?.value ?? ''))
    acts[action] = { ...(known as JsonObject | undefined), ...(value as JsonObject) };
  else if (known === undefined) acts[action] = value;
  else
    diagnostics.error(
      'contradiction',
      action === 'pin' ? (row.value?.at ?? place) : place,
      action === 'pin'
        ? `place ${row.value?.value ?? ''} has a product already in another row of the campaign`
        : `another row of the campaign has the action \`${action}\``,
      action === 'pin' ? 'write another place' : 'give the row the name of another campaign',
    );
  for (const column of ACT_COLUMNS) {
    const cell = row[column];
    if (cell !== undefined) cells.push({ key: action, cell });
  }
}

const isPlace = (text: string): boolean => /^[1-9]\d{0,8}$/.test(text);

/** What a cell has between commas; in several lines, each line is one, which may have commas. */
function itemsOf(text: string): readonly string[] {
  const parts = text.includes('\n') ? text.split('\n') : text.split(',');
  return [...new Set(parts.map((one) => one.trim()))].filter((one) => one !== '');
}

/** A campaign as the API takes it. */
function campaignOf({ shared, acts }: Read, zone: string): JsonObject {
  const { from, until, category, query, match, when, note } = shared;
  const on: JsonObject = {
    ...(query && { query: itemsOf(query.value) }),
    ...(category && { category: itemsOf(category.value) }),
    ...(match && { match: match.value }),
    ...(when && { when: when.value }),
  };
  return {
    ...(from && { from: timeIn(from.value, zone) }),
    ...(until && { until: timeIn(until.value, zone) }),
    ...(Object.keys(on).length > 0 && { on }),
    ...acts,
    ...(note && { note: note.value }),
  };
}

/** A day stays one. A time as German spreadsheets write it is in the time zone. */
function timeIn(text: string, zone: string): string {
  const iso = isoTime(text);
  return iso === text || isDate(iso)
    ? iso
    : new Date(momentOf(iso, zone)).toISOString().replace(':00.000Z', 'Z');
}
