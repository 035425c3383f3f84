import { Command } from 'commander';
import { printJson, type CliContext } from '../context.js';
import { openService } from '../load/open-target.js';
import { addServiceFlag } from '../setting-flags.js';

interface Flags {
  readonly url: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

export function reloadCommand(context: CliContext): Command {
  const command = new Command('reload')
    .description('make one running instance load the files of its project again')
    .option('--force', 'serve the files even if they do not meet the condition of reload: { require: … }')
    .option('--json', 'print the answer as JSON')
    .action((flags: Flags) => run(context, flags));
  return addServiceFlag(command);
}

async function run(context: CliContext, { url, force = false, json }: Flags): Promise<void> {
  const service = openService(context, url, false);
  try {
    const answer = await service.reload(force);
    if (json === true) printJson(context, answer);
    else context.stdout.write(`${url} serves ${answer.version}\n`);
  } finally {
    await service.close();
  }
}
