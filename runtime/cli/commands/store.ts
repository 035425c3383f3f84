import { count } from '../../ground/core/count.js';
import { Command } from 'commander';
import { pino } from 'pino';
import { setTimeout as pause } from 'node:timers/promises';
import { MillraceError } from '../../ground/api/errors.js';
import { ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { traitsOf } from '../../project/settings/store-engines.js';
import { openEngine } from '../../serve/app/container/store-engines.js';
import { loadSchemas } from '../../project/config/project/load-project.js';
import { printable } from '../../ground/core/display-width.js';
import { trimStore } from '../../state/privacy/trim.js';
import type { SettingFlags, Settings } from '../../project/settings/settings.js';
import { BackupFileError, isEmpty, recordsOf, restoreBackup, writeBackup } from '../../state/store/backup.js';
import { checkRecord, layoutAtKey } from '../../state/store/check-records.js';
import type { RecordLayout } from '../../state/store/codec/record-layout.js';
import { viewId } from '../../state/store/codec/feature-record.js';
import { inspectFolder, repairFolder } from '../../state/store/embedded/repair.js';
import { StoreMonitor } from '../../state/store/store-monitor.js';
import type { Store, StoreRecord } from '../../state/store/store.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { withCount } from '../../ground/core/progress.js';
import { addSettingFlags } from '../setting-flags.js';
import { forgetCommand } from './store-forget.js';

type Flags = SettingFlags & { readonly json?: boolean; readonly force?: boolean };

/** The tombstones of expired rows may be dropped after this time, in milliseconds. */
const EXPIRED_AFTER = 1100;

/** Maximum number of damaged keys that are printed. */
const KEYS_SHOWN = 100;

export function storeCommand(context: CliContext): Command {
  const check = new Command('check')
    .description('read every record of the store and list the damaged ones')
    .option('--json', 'print the result as JSON')
    .action((flags: Flags) => checkStore(context, flags));
  const backup = new Command('backup')
    .description('write all records of the store to a file')
    .argument('<FILE>', 'the file to write; it appears when the backup is complete')
    .option('--json', 'print the count as JSON')
    .action((file: string, flags: Flags) => backUp(context, file, flags));
  const restore = new Command('restore')
    .description('store all records of a backup')
    .argument('<FILE>', 'a file that `store backup` wrote')
    .option('--force', 'restore into a store that has records; those with the same keys are replaced')
    .option('--json', 'print the counts as JSON')
    .action((file: string, flags: Flags) => restoreStore(context, file, flags));
  const repair = new Command('repair')
    .description('rebuild a damaged data folder from the records that can be read')
    .option('--json', 'print the result as JSON')
    .action((flags: Flags) => repairStore(context, flags));
  const trim = new Command('trim')
    .description('remove feedback events beyond the retention, and expired feature rows')
    .option('--json', 'print the counts as JSON')
    .action((flags: Flags) => trimRecords(context, flags));
  const command = new Command('store').description(
    'check, back up, restore, repair and trim the store; forget entities',
  );
  for (const child of [check, backup, restore, repair, trim])
    command.addCommand(addSettingFlags(child, ['project', 'store', 'dataDir']));
  command.addCommand(forgetCommand(context));
  return command;
}

async function checkStore(context: CliContext, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  const viewNames = await viewNamesOf(context, settings);
  const counts = new Map<string, number>();
  const damagedKeys: { key: string; problem: string }[] = [];
  let damage: string | undefined;
  const check = (records: Iterable<StoreRecord>, layouts: ReadonlyMap<string, RecordLayout>): void => {
    for (const { key, value } of records) {
      const { counted, problem } = checkRecord(key, value, layouts, viewNames);
      for (const name of counted) counts.set(name, (counts.get(name) ?? 0) + 1);
      if (problem !== undefined) damagedKeys.push({ key, problem });
    }
  };
  const { isFolder } = traitsOf(settings.store);
  if (isFolder) {
    const { records, damage: found } = await inspectFolder(settings.dataDir);
    damage = found;
    const all = [...records.keys()].map((key) => ({ key, value: records.get(key) ?? Buffer.alloc(0) }));
    check(all, layoutsOf(all));
  } else {
    await withStore(settings, (store) =>
      withCount(context.stderr, 'checking', 'records', async (tell) => {
        const layouts = new Map<string, RecordLayout>();
        for await (const page of recordsOf(store, settings.prefix))
          for (const [hex, layout] of layoutsOf(page)) layouts.set(hex, layout);
        let checked = 0;
        for await (const page of recordsOf(store, settings.prefix)) {
          check(page, layouts);
          tell((checked += page.length));
        }
      }),
    );
  }
  const ok = damage === undefined && damagedKeys.length === 0;
  if (flags.json === true)
    printJson(context, {
      ok,
      counts: Object.fromEntries(counts),
      damaged: damagedKeys,
      ...(damage === undefined ? {} : { damage }),
    });
  else {
    for (const [name, number] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
      context.stdout.write(`${count(number).padStart(11)}  ${printable(name)}\n`);
    for (const { key, problem } of damagedKeys.slice(0, KEYS_SHOWN))
      context.stdout.write(`damaged: ${printable(key)}: ${problem}\n`);
    if (damagedKeys.length > KEYS_SHOWN)
      context.stdout.write(`… and ${count(damagedKeys.length - KEYS_SHOWN)} more\n`);
  }
  if (ok) return;
  const what = [
    ...(damage === undefined ? [] : [`the data folder is damaged: ${damage}`]),
    ...(damagedKeys.length === 0
      ? []
      : [`${count(damagedKeys.length)} damaged ${damagedKeys.length === 1 ? 'record' : 'records'}`]),
  ];
  throw new CommandFailure(
    what.join('; '),
    isFolder
      ? 'millrace store repair keeps the records that can be read'
      : 'load these entities and rows again from their source',
  );
}

async function backUp(context: CliContext, file: string, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  await withStore(settings, async (store) => {
    const records = await withCount(context.stderr, 'writing', 'records', (tell) =>
      writeBackup(store, settings.prefix, file, tell),
    );
    if (flags.json === true) printJson(context, { records });
    else
      context.stdout.write(`${count(records)} records of the ${settings.store} store written to ${file}\n`);
  });
}

async function restoreStore(context: CliContext, file: string, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  await withStore(settings, async (store) => {
    if (flags.force !== true && !(await isEmpty(store, settings.prefix)))
      throw new CommandFailure(
        `the ${settings.store} store has records under the prefix ${settings.prefix}`,
        'restore into an empty store, or replace the records with the same keys with --force',
      );
    const { restored, expired } = await withCount(context.stderr, 'restoring', 'records', (tell) =>
      restoreBackup(store, settings.prefix, file, Date.now(), tell),
    ).catch((error: unknown) => {
      if (!(error instanceof BackupFileError)) throw error;
      throw new CommandFailure(
        `${file} cannot be restored: ${error.message}`,
        'nothing was stored; use another copy of the backup',
        { cause: error },
      );
    });
    if (flags.json === true) printJson(context, { restored, expired });
    else
      context.stdout.write(
        `${count(restored)} records restored into the ${settings.store} store, ${count(expired)} expired since the backup\n`,
      );
  });
}

async function trimRecords(context: CliContext, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  const { config, diagnostics } = await loadSchemas(settings.project, context.env);
  if (config === undefined) throw new ProjectInvalidError(diagnostics);
  await withStore(settings, async (store) => {
    const rules = { views: config.views, retention: settings.historyRetention, now: Date.now() };
    const trimmed = await trimStore(store, settings.prefix, rules);
    await pause(EXPIRED_AFTER);
    const { files } = await store.erase();
    if (flags.json === true) printJson(context, { ...trimmed, files });
    else
      for (const [name, number] of Object.entries(trimmed))
        context.stdout.write(
          `${count(number as number).padStart(11)}  ${name.replaceAll('_', ' ')} removed\n`,
        );
  });
}

async function repairStore(context: CliContext, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  if (!traitsOf(settings.store).isFolder)
    throw new CommandFailure(
      'only a data folder can be repaired',
      'set --store embedded; for Redis, restore a backup or load the data again',
    );
  const { dataDir } = settings;
  if (await isSound(dataDir)) {
    if (flags.json === true) printJson(context, { repaired: false });
    else context.stdout.write(`The data folder ${dataDir} is not damaged; nothing was changed\n`);
    return;
  }
  const stamp = new Date().toISOString().replace(/[:.]/g, '-');
  const { kept, lost, damagedKeys, aside } = await repairFolder(dataDir, stamp);
  if (flags.json === true) {
    printJson(context, { repaired: true, kept, lost: lost ?? null, damaged: damagedKeys, aside });
    return;
  }
  for (const key of damagedKeys.slice(0, KEYS_SHOWN)) context.stdout.write(`damaged: ${printable(key)}\n`);
  const lostText = lost === undefined ? 'how many were lost is not known' : `${count(lost)} lost`;
  context.stdout.write(`${count(kept)} records kept, ${lostText}; everything as it was is in ${aside}\n`);
}

/** True if no record of the data folder is damaged. @throws MillraceError data_folder_in_use */
async function isSound(dataDir: string): Promise<boolean> {
  try {
    const { records, damage } = await inspectFolder(dataDir);
    const all = [...records.keys()].map((key) => ({ key, value: records.get(key) ?? Buffer.alloc(0) }));
    const layouts = layoutsOf(all);
    return (
      damage === undefined &&
      all.every(({ key, value }) => checkRecord(key, value, layouts, new Map()).problem === undefined)
    );
  } catch (error) {
    if (error instanceof MillraceError && error.code === 'data_folder_damaged') return false;
    throw error;
  }
}

function layoutsOf(records: Iterable<StoreRecord>): Map<string, RecordLayout> {
  const layouts = new Map<string, RecordLayout>();
  for (const { key, value } of records) {
    const layout = layoutAtKey(key, value);
    if (layout !== undefined) layouts.set(layout.hex, layout);
  }
  return layouts;
}

/** The names of the project's views by hex id. Empty if the project has errors, because the check works without names. */
async function viewNamesOf(context: CliContext, { project }: Settings): Promise<Map<string, string>> {
  const { config } = await loadSchemas(project, context.env);
  return new Map([...(config?.views.keys() ?? [])].map((name) => [viewId(name).toString('hex'), name]));
}

async function withStore(settings: Settings, use: (store: Store) => Promise<void>): Promise<void> {
  const logger = pino({ level: 'silent' });
  const { store } = await openEngine(settings, logger, new StoreMonitor(logger));
  try {
    await use(store);
  } finally {
    await store.close();
  }
}
