import type { JsonObject } from '../../../ground/api/types.js';
import { guardedCell } from '../../../ground/core/csv-dialect.js';
import { isDate, localTime } from '../../../ground/core/time-zone.js';
import { timestampOf } from '../../../ground/core/timestamp.js';
import type { Campaign } from './campaign.js';
import { SHEET_COLUMNS, type SheetColumn } from './read-sheet.js';

/** How a sheet is written: as a German spreadsheet writes it, or with commas, points and ISO 8601. */
export const SHEET_FORMS = ['german', 'plain'] as const;
export type SheetForm = (typeof SHEET_FORMS)[number];

type Row = Readonly<Partial<Record<SheetColumn, string>>>;

/**
 * Writes campaigns as a sheet that `readSheet` reads, and spreadsheets open: one action a row. A cell with which a formula would
 * begin has an apostrophe before it.
 * @param zone the time zone in which times are written
 */
export function writeSheet(
  campaigns: Readonly<Record<string, JsonObject>>,
  form: SheetForm,
  zone: string,
): string {
  const [separator, mark] = form === 'german' ? [';', '\uFEFF'] : [',', ''];
  const rows = Object.entries(campaigns).flatMap(([name, one]) => rowsOf(name, one as Campaign, form, zone));
  const lines = rows.map((row) => SHEET_COLUMNS.map((column) => cellOf(row[column] ?? '', separator)));
  return mark + [[...SHEET_COLUMNS], ...lines].map((cells) => `${cells.join(separator)}\r\n`).join('');
}

function cellOf(text: string, separator: string): string {
  const guarded = guardedCell(text);
  return /["\r\n]/.test(guarded) || guarded.includes(separator) || guarded !== guarded.trim()
    ? `"${guarded.replaceAll('"', '""')}"`
    : guarded;
}

function rowsOf(campaign: string, one: Campaign, form: SheetForm, zone: string): readonly Row[] {
  const { on = {}, note } = one;
  const shared: Row = {
    campaign,
    from: timeText(one.from, form, zone),
    until: timeText(one.until, form, zone),
    category: itemsText(on.category),
    query: itemsText(on.query),
    match: on.match ?? '',
    when: on.when ?? '',
    note: note ?? '',
  };
  return actsOf(one, form).map((row) => ({ ...shared, ...row }));
}

function actsOf({ pin = {}, hide, boost, bury, sponsor, banner }: Campaign, form: SheetForm): readonly Row[] {
  return [
    ...Object.entries(pin).map(([value, target]) => ({ action: 'pin', target, value })),
    ...listOf(hide).map((target) => ({ action: 'hide', target })),
    ...(boost ? [{ action: 'boost', target: boost.where, value: boostText(boost, form) }] : []),
    ...(bury ? [{ action: 'bury', target: bury.where }] : []),
    ...(sponsor
      ? [
          {
            action: 'sponsor',
            target: sponsor.product,
            value: sponsor.places.join(', '),
            text: sponsor.label,
          },
        ]
      : []),
    ...(banner
      ? [
          {
            action: 'banner',
            target: banner.image ?? '',
            value: banner.place,
            text: banner.text ?? '',
            link: banner.link ?? '',
          },
        ]
      : []),
  ];
}

function boostText({ multiply, add = 0 }: NonNullable<Campaign['boost']>, form: SheetForm): string {
  const text = multiply === undefined ? `${add < 0 ? '' : '+'}${String(add)}` : String(multiply);
  return form === 'german' ? text.replace('.', ',') : text;
}

const listOf = (value: string | readonly string[] = []): readonly string[] =>
  typeof value === 'string' ? [value] : value.map(String);

/** Between commas; in lines, if one of them has a comma. */
function itemsText(value: string | readonly string[] | undefined): string {
  const items = listOf(value);
  return items.some((one) => one.includes(',')) ? `${items.join('\n')}\n` : items.join(', ');
}

function timeText(text: string | undefined, form: SheetForm, zone: string): string {
  if (text === undefined || form === 'plain') return text ?? '';
  const moment = timestampOf(text);
  // A spreadsheet has minutes.
  if (Number.isNaN(moment) || (!isDate(text) && moment % 60_000 !== 0)) return text;
  const [day = '', time = ''] = isDate(text) ? [text] : localTime(moment, zone).split('T');
  const [year = '', month = '', date = ''] = day.split('-');
  return `${date}.${month}.${year}${time === '' ? '' : ` ${time}`}`;
}
