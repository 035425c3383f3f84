import { Command } from 'commander';
import { printable } from '../../ground/core/display-width.js';
import { MOST_FORGOTTEN, REMOVED_COUNTS, type ForgetAnswer } from '../../state/privacy/forget.js';
import { printJson, type CliContext } from '../context.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { addIdFlags, idsOf, type IdFlags } from '../load/ids.js';
import { openTarget, type TargetFlags } from '../load/open-target.js';
import type { DataTarget } from '../load/target.js';
import { addTargetFlags } from '../setting-flags.js';

type Flags = TargetFlags & IdFlags & { readonly json?: boolean };

/** What all calls together removed. */
interface Total {
  readonly removed: Record<string, number>;
  files: ForgetAnswer['files'];
  copies: readonly string[];
}

export function forgetCommand(context: CliContext): Command {
  const forget = addIdFlags(new Command('forget'))
    .description('remove entities from the index, the features and the feedback histories')
    .option('--json', 'print the counts as JSON')
    .action((type: string, ids: readonly string[], flags: Flags) =>
      forgetEntities(context, type, ids, flags),
    );
  return addTargetFlags(forget);
}

async function forgetEntities(
  context: CliContext,
  type: string,
  given: readonly string[],
  flags: Flags,
): Promise<void> {
  const ids = await idsOf(context, given, flags);
  const target = await openTarget(context, flags, 'data');
  const total: Total = {
    removed: Object.fromEntries(REMOVED_COUNTS.map((name) => [name, 0])),
    files: 'pending',
    copies: [],
  };
  try {
    for (let from = 0; from < ids.length; from += MOST_FORGOTTEN)
      await forgetAll(target, type, ids.slice(from, from + MOST_FORGOTTEN), total);
  } finally {
    await target.close();
  }
  report(context, flags, type, ids.length, total);
}

async function forgetAll(
  target: DataTarget,
  type: string,
  ids: readonly string[],
  total: Total,
): Promise<void> {
  let cursor: string | null = null;
  do {
    const answer: ForgetAnswer = await target.forget(type, ids, cursor);
    for (const [name, count] of Object.entries(answer.removed))
      total.removed[name] = (total.removed[name] ?? 0) + count;
    ({ files: total.files, copies: total.copies, cursor } = answer);
  } while (cursor !== null);
}

function report(context: CliContext, flags: Flags, type: string, asked: number, total: Total): void {
  if (flags.json === true) printJson(context, { entity_type: type, asked, ...total });
  else {
    context.stdout.write(`${asked.toLocaleString('en')} ${type} ids forgotten\n`);
    for (const [name, count] of Object.entries(total.removed))
      context.stdout.write(`${count.toLocaleString('en').padStart(11)}  ${name.replaceAll('_', ' ')}\n`);
    context.stdout.write(
      total.files === 'rewritten'
        ? 'No file of the data folder holds them any more\n'
        : 'The files of Redis may hold them until it rewrites them (docs/privacy.md)\n',
    );
    for (const copy of total.copies) context.stdout.write(`older copy, delete it: ${printable(copy)}\n`);
  }
  const unreadable = total.removed.unreadable_histories ?? 0;
  if (unreadable > 0)
    throw new CommandFailure(
      `${unreadable} histories have the format of another version of Millrace and were not searched`,
      'run the command with that version as well',
    );
}
