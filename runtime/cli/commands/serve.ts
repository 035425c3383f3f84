import { Command } from 'commander';
import { serve as serveUntilSignal } from '../../serve/app/workers/serve.js';
import { readSettings } from '../../project/config/project/read-settings.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import type { CliContext } from '../context.js';
import { addSettingFlags } from '../setting-flags.js';

type Flags = SettingFlags & { readonly watch?: boolean; readonly diff?: string };

export function serveCommand(context: CliContext): Command {
  const serve = new Command('serve')
    .description('serve the pipelines of a project over HTTP until stopped')
    .option('--watch', 'reload the project when its files change [MILLRACE_RELOAD=watch]')
    .action(async ({ watch, diff, ...flags }: Flags) => {
      const reload = {
        ...(watch === true ? { reload: 'watch' } : {}),
        ...(diff === undefined ? {} : { reloadDiff: diff }),
      };
      await serveUntilSignal((file) => readSettings(context.env, { ...flags, ...reload }, file));
    });
  return addSettingFlags(serve, [
    'project',
    'store',
    'dataDir',
    'port',
    'host',
    'keysFile',
    'workers',
    'logLevel',
    'reloadDiff',
  ]);
}
