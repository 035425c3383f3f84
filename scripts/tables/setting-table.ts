import { keyOf, type SettingRow } from '../../runtime/project/settings/setting-row.js';
import { SETTINGS } from '../../runtime/project/settings/settings.js';
import { markdownTable } from './markdown-table.js';

export function settingTable(): string {
  const rows: readonly SettingRow<unknown>[] = Object.values(SETTINGS);
  return markdownTable(
    ['key in millrace.yaml', 'variable', 'flag', 'default', 'meaning'],
    rows.map(({ env, flag, default: otherwise, description, inFile, shared }) => [
      inFile === false ? '' : `\`${keyOf({ env })}\``,
      `\`${env}\``,
      flag === undefined ? '' : `\`--${flag}\``,
      otherwise === '' ? '' : `\`${otherwise}\``,
      shared === true ? `${description} All instances need the same value.` : description,
    ]),
  );
}
