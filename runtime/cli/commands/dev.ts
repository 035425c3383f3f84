import { Command } from 'commander';
import { serveAlone } from '../../serve/app/serve.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { settingsOf, type CliContext } from '../context.js';
import { compares } from '../compare/compares.js';
import { devVoice } from '../dev/dev-voice.js';
import { addSettingFlags } from '../setting-flags.js';

export function devCommand(context: CliContext): Command {
  const dev = new Command('dev')
    .description('serve a project while you edit it, with a page that shows why a ranking is as it is')
    .action(async (flags: SettingFlags) => {
      const settings = await settingsOf(context, {
        ...flags,
        reload: 'watch',
        workers: '1',
        workbench: 'on',
      });
      await serveAlone(settings, { ...devVoice(context), compares });
    });
  return addSettingFlags(dev, ['project', 'store', 'dataDir', 'port', 'host', 'reloadDiff']);
}
