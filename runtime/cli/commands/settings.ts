import { Command } from 'commander';
import { printable } from '../../ground/core/display-width.js';
import { placeInFile, PROJECT_FILE, type Origin } from '../../project/settings/setting-origin.js';
import { keyOf, withoutSecret, type SettingRow } from '../../project/settings/setting-row.js';
import {
  nameOf,
  SETTINGS,
  type SettingFlags,
  type SettingName,
  type Settings,
} from '../../project/settings/settings.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { addSettingFlags } from '../setting-flags.js';
import { renderTable } from '../report/table.js';

type Flags = SettingFlags & { readonly json?: boolean };

export function settingsCommand(context: CliContext): Command {
  const settings = new Command('settings')
    .description('print every setting, its value and where the value comes from')
    .option('--json', 'print the settings as JSON')
    .action((flags: Flags) => printSettings(context, flags));
  return addSettingFlags(settings, ['project', 'store', 'dataDir', 'port', 'host', 'workers', 'logLevel']);
}

async function printSettings(context: CliContext, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  const { project, sources } = settings;
  const hasFile = sources.file?.content !== undefined;
  // The folder of the project is no key of the file: `project` is the name there.
  const names = (Object.keys(SETTINGS) as SettingName[]).filter((name) => name !== 'project');
  if (flags.json === true) {
    printJson(context, {
      project: sources.projectName,
      folder: project,
      file: hasFile ? PROJECT_FILE : null,
      settings: names.map((name) => recordOf(name, settings)),
    });
    return;
  }
  const file = hasFile ? `with ${PROJECT_FILE}` : `without ${PROJECT_FILE}`;
  context.stdout.write(`project ${sources.projectName} in ${printable(project)}, ${file}\n\n`);
  context.stdout.write(
    renderTable(
      { setting: 'left', from: 'left', value: 'left' },
      names.map((name) => [
        keyOf(SETTINGS[name]),
        fromOf(name, settings),
        printable(String(valueOf(name, settings))),
      ]),
    ),
  );
}

function fromOf(name: SettingName, settings: Settings): string {
  const origin = settings.sources.origins[name];
  if (origin.kind === 'file') return placeInFile(origin);
  return origin.kind === 'default' ? 'default' : nameOf(name, settings);
}

interface SettingRecord {
  readonly key: string;
  readonly variable: string;
  readonly flag?: string;
  readonly value: string | number | boolean;
  readonly from: Origin['kind'];
  /** The line in millrace.yaml. */
  readonly line?: number;
}

function recordOf(name: SettingName, settings: Settings): SettingRecord {
  const row: SettingRow<unknown> = SETTINGS[name];
  const origin = settings.sources.origins[name];
  return {
    key: keyOf(row),
    variable: row.env,
    ...(row.flag === undefined ? {} : { flag: `--${row.flag}` }),
    value: valueOf(name, settings),
    from: origin.kind,
    ...(origin.kind === 'file' ? { line: origin.line } : {}),
  };
}

/** The value in use, without passwords. A path is absolute. */
function valueOf(name: SettingName, settings: Settings): string | number | boolean {
  const row: SettingRow<unknown> = SETTINGS[name];
  const value = settings[name];
  const text = settings.sources.texts[name];
  if (row.secret === true) return withoutSecret(row, text);
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value;
  return typeof value === 'number' && text === String(value) ? value : text;
}
