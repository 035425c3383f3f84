import { MillraceError } from '../../ground/api/errors.js';
import { decodeSheet } from '../../ground/core/csv-dialect.js';
import { readSheet, type SheetCell } from '../../project/config/curation/read-sheet.js';
import { writeSheet, type SheetForm } from '../../project/config/curation/write-sheet.js';
import { Diagnostics, type Diagnostic } from '../../project/config/diagnostics/diagnostics.js';
import { SourceFile } from '../../project/config/yaml/source.js';
import { MOST_CHANGES } from './draft-answers.js';
import type { PlacedDiagnostic } from './list-writer.js';
import type { Campaigns } from './stored-rules.js';

/** The most errors of a sheet that an answer lists. */
const MOST_LISTED = 50;

/** What is wrong with a sheet, and where. */
interface SheetFault extends SheetCell {
  readonly code: string;
  readonly detail: string;
  /** The remedy. */
  readonly help: string;
}

/**
 * Reads a sheet of campaigns, as spreadsheets write it.
 * @param errorsOf what is wrong with campaigns apart from their cells
 * @throws MillraceError invalid_body with the place of each error, in `rows`
 */
export async function campaignsOfSheet(
  bytes: Buffer,
  zone: string,
  errorsOf: (campaigns: Campaigns) => Promise<readonly PlacedDiagnostic[]>,
): Promise<Campaigns> {
  const file = new SourceFile('the sheet', decodeSheet(bytes));
  const diagnostics = new Diagnostics();
  const { campaigns, cellAt, placeOf } = readSheet(file, zone, diagnostics);
  const count = Object.keys(campaigns).length;
  const start = { file, start: 0, end: 0 };
  if (count > MOST_CHANGES)
    diagnostics.error(
      'contradiction',
      start,
      `a draft changes at most ${MOST_CHANGES} campaigns, found ${count}`,
      'divide the file, or give rows that belong together the name of one campaign',
    );
  else if (count > 0)
    for (const { pointer, code, message, help } of await errorsOf(campaigns)) {
      const [, , name = '', key = ''] = pointer.split('/');
      diagnostics.error(code, placeOf(name, key, message) ?? start, message, help);
    }
  else if (!diagnostics.hasErrors)
    diagnostics.error(
      'missing_key',
      start,
      'the file has no rows',
      'write one action a row below the header',
    );
  refuseSheet(diagnostics.all, cellAt);
  return campaigns;
}

/** @throws MillraceError invalid_body if there are errors */
function refuseSheet(errors: readonly Diagnostic[], cellAt: (at: Diagnostic['at']) => SheetCell): void {
  if (errors.length === 0) return;
  const rows = errors
    .toSorted((a, b) => a.at.start - b.at.start)
    .slice(0, MOST_LISTED)
    .map(({ at, code, message, help = '' }): SheetFault => ({ ...cellAt(at), code, detail: message, help }));
  const violations = rows.map((row) => ({
    pointer: '/file',
    code: row.code,
    detail: `${placeText(row)}: ${row.detail}${row.help === '' ? '' : `; ${row.help}`}`,
  }));
  const [first] = violations;
  throw new MillraceError(
    'invalid_body',
    errors.length === 1 && first !== undefined
      ? `the sheet, ${first.detail}`
      : `the sheet has ${errors.length} violations; nothing was saved`,
    { violations, extensions: { violation_count: errors.length, rows } },
  );
}

function placeText({ line, column, cell }: SheetCell): string {
  return column === undefined ? `line ${line}` : `line ${line}, column ${column} (${cell ?? ''})`;
}

/** Writes campaigns as a sheet. @returns its bytes in base64 */
export function sheetOf(campaigns: Campaigns, form: SheetForm, zone: string): string {
  return Buffer.from(writeSheet(campaigns, form, zone)).toString('base64');
}
