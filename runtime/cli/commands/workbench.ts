import { Command } from 'commander';
import { MillraceError } from '../../ground/api/errors.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { SETTINGS, type Settings } from '../../project/settings/settings.js';
import { settingsOf, type CliContext } from '../context.js';
import { compares } from '../compare/compares.js';
import { clientKey, type TargetFlags } from '../load/open-target.js';
import { addSettingFlags, serviceOption } from '../setting-flags.js';

/** So that it runs beside a service of the same machine. */
const PORT = '5002';

export function workbenchCommand(context: CliContext): Command {
  const workbench = new Command('workbench')
    .description('serve the workbench for people in a process of its own, beside the services that rank')
    .addOption(serviceOption('show this running service instead of opening the store'))
    .action((flags: TargetFlags) => run(context, flags));
  return addSettingFlags(workbench, ['project', 'store', 'dataDir', 'host', 'port', 'keysFile', 'logLevel']);
}

async function run(context: CliContext, { url, ...flags }: TargetFlags): Promise<void> {
  const { sources } = await settingsOf(context, flags);
  const port = sources.origins.port.kind === 'default' ? { port: PORT } : {};
  const settings = await settingsOf(context, { ...flags, ...port, workbench: 'only', workers: '1' });
  if (url === undefined) await serveStore(settings);
  else {
    const { serveWorkbench } = await import('../../serve/app/serve-workbench.js');
    await serveWorkbench(settings, url, { key: clientKey(context), load: compares });
  }
}

/** Opens the project and the store in this process. */
async function serveStore(settings: Settings): Promise<void> {
  const { logVoice, serveAlone } = await import('../../serve/app/serve.js');
  await serveAlone(settings, { ...logVoice(settings), compares }).catch((error: unknown) => {
    if (!(error instanceof MillraceError) || error.code !== 'data_folder_in_use') throw error;
    throw new CommandFailure(
      'another process, such as a running service, uses the embedded store of the project',
      `show that service: \`millrace workbench --url http://127.0.0.1:${SETTINGS.port.default}\``,
      { cause: error },
    );
  });
}
