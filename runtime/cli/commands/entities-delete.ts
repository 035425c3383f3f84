import { Command } from 'commander';
import { MAX_BATCH } from '../../state/index/entity-index.js';
import { printJson, type CliContext } from '../context.js';
import { addIdFlags, idsOf, type IdFlags } from '../load/ids.js';
import { openTarget, type TargetFlags } from '../load/open-target.js';
import { startProgress } from '../../ground/core/progress.js';
import { addTargetFlags } from '../setting-flags.js';

type Flags = TargetFlags & IdFlags & { readonly json?: boolean };

export function deleteEntitiesCommand(context: CliContext): Command {
  const remove = addIdFlags(new Command('delete'))
    .description('delete entities of the index by their ids')
    .option('--json', 'print the count as JSON')
    .action(async (type: string, ids: readonly string[], flags: Flags) => {
      await deleteEntities(context, type, ids, flags);
    });
  return addTargetFlags(remove);
}

async function deleteEntities(
  context: CliContext,
  type: string,
  given: readonly string[],
  flags: Flags,
): Promise<void> {
  const ids = [...new Set(await idsOf(context, given, flags))];
  const target = await openTarget(context, flags, 'data');
  const progress = startProgress(context.stderr, `deleting ${type} entities`, ids.length, 'ids');
  let deleted = 0;
  try {
    while (deleted < ids.length) {
      const some = ids.slice(deleted, deleted + MAX_BATCH);
      await target.deleteEntities(type, some);
      deleted += some.length;
      progress.update(deleted, deleted);
    }
  } finally {
    progress.stop();
    if (deleted < ids.length && deleted > 0)
      context.stderr.write(
        `${deleted.toLocaleString('en')} of ${ids.length.toLocaleString('en')} ids are deleted; running the command again is safe\n`,
      );
    await target.close();
  }
  if (flags.json === true) printJson(context, { deleted });
  else context.stdout.write(`${deleted.toLocaleString('en')} ${type} ids deleted from ${target.name}\n`);
}
