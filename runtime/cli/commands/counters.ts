import { count } from '../../ground/core/count.js';
import { Command } from 'commander';
import { pino } from 'pino';
import { MillraceError } from '../../ground/api/errors.js';
import { openEngine } from '../../serve/app/container/store-engines.js';
import { ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { loadSchemas } from '../../project/config/project/load-project.js';
import { didYouMean } from '../../ground/core/nearest.js';
import { hiddenTypes, rebuildCounter } from '../../serve/feedback/rebuild-counter.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { LayoutRegistry } from '../../state/store/layout-registry.js';
import { StoreMonitor } from '../../state/store/store-monitor.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { checkLedger } from '../../state/ledger/ledger-folder.js';
import { withCount } from '../../ground/core/progress.js';
import { addSettingFlags } from '../setting-flags.js';

type Flags = SettingFlags & { readonly json?: boolean };

export function countersCommand(context: CliContext): Command {
  const rebuild = new Command('rebuild')
    .description('count the feedback of the ledger for a counter, beside the counts that serve, then swap')
    .argument('<NAME>', 'a counter of schemas/counters')
    .option('--json', 'print the result as JSON')
    .action((name: string, flags: Flags) => run(context, name, flags));
  const command = new Command('counters').description('fill counters from the ledger');
  command.addCommand(addSettingFlags(rebuild, ['project', 'store', 'dataDir']));
  return command;
}

async function run(context: CliContext, name: string, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  const { config, diagnostics } = await loadSchemas(settings.project, context.env);
  if (config === undefined) throw new ProjectInvalidError(diagnostics);
  const counter = config.counters.get(name);
  if (counter === undefined) {
    const others =
      config.counters.size === 0
        ? '`millrace new counter NAME` makes one'
        : `the counters are ${[...config.counters.keys()].join(', ')}`;
    throw new CommandFailure(
      `there is no counter \`${name}\``,
      didYouMean(name, config.counters.keys()) ?? others,
    );
  }
  // A user whom the ledger has as a hash would be another one than the user of new feedback.
  const hidden = hiddenTypes(counter, settings.hashIds);
  if (hidden.length > 0)
    throw new CommandFailure(
      `the ledger has hashes instead of the ids of ${hidden.join(', ')}`,
      'a counter of such entities, or of distinct ones, fills only from new feedback',
    );
  await checkLedger(context, settings.ledgerDir);
  const logger = pino({ level: 'silent' });
  const { store, isShared } = await openEngine(settings, logger, new StoreMonitor(logger)).catch(
    (error: unknown) => {
      if (error instanceof MillraceError && error.code === 'data_folder_in_use')
        throw new CommandFailure(
          'another process, such as a running service, uses the embedded store of the project',
          'stop it first, and start it again afterwards; with Redis, services can run during a rebuild',
        );
      throw error;
    },
  );
  try {
    const rebuilt = await withCount(context.stderr, 'counting', 'records', (tell) =>
      rebuildCounter(counter, {
        store,
        layouts: new LayoutRegistry(store, settings.prefix),
        prefix: settings.prefix,
        types: config.entities,
        kinds: config.events,
        ledger: settings.ledgerDir,
        isShared,
        tell,
      }),
    );
    if (rebuilt === undefined)
      throw new CommandFailure(
        `another rebuild of ${name} began after this one, and replaces it`,
        'the counts that serve are unchanged; wait for the other rebuild',
      );
    if (flags.json === true) printJson(context, rebuilt);
    else
      context.stdout.write(
        `${name}: ${count(rebuilt.events)} events of ${count(rebuilt.records)} records counted in ${count(rebuilt.keys)} keys\n`,
      );
  } finally {
    await store.close();
  }
}
