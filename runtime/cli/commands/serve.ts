import { Command } from 'commander';
import { serveUntilSignal } from '../../serve.js';
import type { SettingFlags } from '../../settings.js';
import { settingsOf, type CliContext } from '../context.js';
import { addSettingFlags } from '../setting-flags.js';

export function serveCommand(context: CliContext): Command {
  const serve = new Command('serve')
    .description('serve the pipelines of a project over HTTP until stopped')
    .action(async (flags: SettingFlags) => {
      await serveUntilSignal(settingsOf(context, flags));
    });
  return addSettingFlags(serve, ['project', 'store', 'dataDir', 'port', 'host', 'logLevel']);
}
