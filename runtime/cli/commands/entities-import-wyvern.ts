import { Command, InvalidArgumentError } from 'commander';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { countsText, hasLosses, noCounts } from '../../state/wyvern/import-counts.js';
import { checkingTarget, importEntities } from '../import-wyvern/import-entities.js';
import { ImportStateFile } from '../../state/wyvern/import-state.js';
import { OldRedis } from '../../state/wyvern/old-redis.js';
import { openTarget, type TargetFlags } from '../load/open-target.js';
import { startProgress } from '../../ground/core/progress.js';
import { lookUp, readSchemas } from '../project-types.js';
import { addTargetFlags } from '../setting-flags.js';

type Flags = TargetFlags & {
  readonly redis: string;
  readonly prefix: string;
  readonly type?: readonly string[];
  readonly dryRun?: true;
  readonly resume?: true;
  readonly json?: true;
};

export function importWyvernCommand(context: CliContext): Command {
  const command = new Command('import-wyvern')
    .description('import the entities of a Wyvern index from its Redis, which is only read')
    .requiredOption(
      '--redis <URL>',
      'address of the old Redis, e.g. redis://user:password@host:6379/0',
      redisUrl,
    )
    .option('--prefix <TEXT>', 'import only keys that start so', '')
    .option('--type <TYPES...>', 'import only these entity types, by default all of the project')
    .option('--dry-run', 'check and count what would be imported, and store nothing')
    .option('--resume', 'continue an interrupted import instead of starting again')
    .option('--json', 'print the counts as JSON')
    .action((flags: Flags) => importWyvern(context, flags));
  return addTargetFlags(command);
}

function redisUrl(text: string): string {
  if (URL.canParse(text) && /^rediss?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('Expected an address such as redis://127.0.0.1:6379.');
}

async function importWyvern(context: CliContext, { prefix: start, ...flags }: Flags): Promise<void> {
  const { entities } = await readSchemas(context, flags);
  const types = {
    known: [...entities.values()],
    wanted: new Set(
      (flags.type ?? [...entities.keys()]).map((name) => lookUp(entities, name, 'entity type').name),
    ),
  };
  const { dataDir, store, prefix, redisUrl: into } = await settingsOf(context, flags);
  const isDry = flags.dryRun === true;
  const old = new OldRedis(flags.redis);
  const place = [old.place, start, [...types.wanted].sort(), flags.url ?? [store, prefix, dataDir, into]];
  const file = isDry ? undefined : new ImportStateFile(dataDir, place);
  let counts = noCounts();
  let failure: unknown;
  let targetName: string;
  try {
    await old.open();
    const run = await old.run();
    const size = await old.size();
    const state = flags.resume === true ? await file?.read(run) : undefined;
    if (flags.resume === true)
      context.stderr.write(
        state === undefined
          ? 'there is no interrupted import; importing from the start\n'
          : `continuing after ${state.counts.keys.toLocaleString('en')} keys\n`,
      );
    if (state !== undefined) counts = state.counts;
    const opened = isDry ? undefined : await openTarget(context, flags, 'data');
    const target = opened ?? checkingTarget(entities);
    targetName = opened?.name ?? '';
    const progress = startProgress(context.stderr, 'importing entities', size, 'keys');
    try {
      const reached = async (cursor: string): Promise<void> => {
        if (cursor === '0') await file?.remove();
        else await file?.write({ cursor, run, counts });
      };
      await importEntities(
        { old, prefix: start, types, target, counts, progress, reached },
        state?.cursor ?? '0',
      );
    } catch (error) {
      failure = error;
    } finally {
      progress.stop();
      await opened?.close();
    }
  } finally {
    old.close();
  }
  if (flags.json === true) printJson(context, { ...counts, complete: failure === undefined });
  else context.stdout.write(countsText(counts, targetName, isDry));
  if (failure !== undefined) {
    if (!isDry) context.stderr.write('the import is not complete; --resume continues from here\n');
    throw failure as Error;
  }
  if (hasLosses(counts))
    throw new CommandFailure(
      'some entities of the old index were not imported',
      'the list above names some of them, and why',
    );
}
