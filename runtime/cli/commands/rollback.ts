import { Argument, Command, Option } from 'commander';
import type { ReleaseList, RollbackEnd, RolledBack } from '../../state/releases/release-answers.js';
import { printJson, type CliContext } from '../context.js';
import { openService } from '../load/open-target.js';
import { renderTable } from '../report/table.js';
import { addServiceFlag } from '../setting-flags.js';

interface Flags {
  readonly url: string;
  readonly list?: boolean;
  readonly end?: boolean;
  readonly json?: boolean;
}

export function rollbackCommand(context: CliContext): Command {
  const command = new Command('rollback')
    .description('serve an earlier release of the project on all instances, until --end')
    .addArgument(
      new Argument('[VERSION]', 'version of the release; by default the one that was served before'),
    )
    .addOption(new Option('--list', 'list the releases, and change nothing').conflicts('end'))
    .option('--end', 'serve the newest files again')
    .option('--json', 'print the answer as JSON')
    .action((version: string | undefined, flags: Flags) => run(context, command, version, flags));
  return addServiceFlag(command);
}

async function run(
  context: CliContext,
  command: Command,
  version: string | undefined,
  { url, list, end, json }: Flags,
): Promise<void> {
  if (version !== undefined && (list === true || end === true))
    command.error('error: --list and --end take no VERSION');
  const service = openService(context, url, false);
  const say = <T>(answer: T, words: (answer: T) => string): void => {
    if (json === true) printJson(context, answer);
    else context.stdout.write(words(answer));
  };
  try {
    if (list === true) say(await service.releases(), listText);
    else if (end === true) say(await service.endRollback(), endText);
    else say(await service.rollBack(version), rolledBackText);
  } finally {
    await service.close();
  }
}

const COLUMNS = [
  { title: 'Release' },
  { title: 'Served' },
  { title: 'Kept' },
  { title: 'Needs the code of' },
];

function listText({ serving, rollback, releases }: ReleaseList): string {
  const rows = releases.map(({ version, served, is_kept: isKept, detail, packed_bytes: bytes, code }) => [
    version === serving ? `${version} (serving)` : version,
    served,
    isKept ? `${(bytes / 2 ** 20).toFixed(1)} MB` : `no: ${detail ?? ''}`,
    code.length === 0 ? '-' : code.join(', '),
  ]);
  const table = rows.length === 0 ? 'no releases are known\n' : renderTable(COLUMNS, rows);
  return rollback === null
    ? table
    : `${table}rolled back to ${rollback.version} since ${rollback.since}; reloads wait until --end\n`;
}

function rolledBackText({ version, version_before: before, not_carried: code }: RolledBack): string {
  const notes = code.map(({ name, is_same: isSame }) =>
    isSame
      ? `note: the code of ${name} is not part of the release; it has not changed\n`
      : `warning: the code of ${name} is not part of the release, and is another version now\n`,
  );
  return [
    `rolled back to ${version}; before it ${before}\n`,
    ...notes,
    'The other instances follow within 10 seconds. Reloads wait until `millrace rollback --end`.\n',
  ].join('');
}

function endText({ version, version_before: before }: RollbackEnd): string {
  return before === null
    ? `the service was not rolled back; it serves ${version}\n`
    : `the rollback to ${before} has ended; the service serves ${version}\n`;
}
