import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { importRegistry, type RegistryImport } from '../../state/feast/import-registry.js';
import { readRegistry, type FeastRegistry } from '../../state/feast/registry.js';
import { settingsOf, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../failure.js';
import { addSettingFlags } from '../setting-flags.js';
import type { SettingFlags } from '../../project/settings/settings.js';

type Flags = SettingFlags & {
  readonly feastProject?: string;
  readonly keyVersion: string;
  readonly urlFrom?: string;
  readonly stored?: true;
  readonly force?: true;
};

/** A larger file is not the dump of a registry. */
const MOST_BYTES = 64 * 1024 * 1024;

export function importFeastCommand(context: CliContext): Command {
  const command = new Command('import-feast')
    .description(
      'declare the feature views of a Feast registry, so that they are read from the Redis of Feast',
    )
    .argument('<FILE>', 'the JSON that `feast registry-dump` prints')
    .option('--feast-project <NAME>', 'name of the Feast project, if the dump does not contain it')
    .addOption(
      new Option('--key-version <VERSION>', 'entity_key_serialization_version of feature_store.yaml')
        .choices(['2', '3'])
        .default('3'),
    )
    .option('--url-from <VARIABLE>', 'environment variable that holds the address of the Redis of Feast')
    .option(
      '--stored',
      "let Millrace store the rows, which Feast's remote online store writes, instead of reading the Redis of Feast",
    )
    .option('--force', 'replace existing feature views; entity types are never replaced')
    .action((file: string, flags: Flags) => importFeast(context, file, flags));
  return addSettingFlags(command, ['project']);
}

async function importFeast(context: CliContext, file: string, flags: Flags): Promise<void> {
  const { project: root } = await settingsOf(context, flags);
  if (flags.urlFrom !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(flags.urlFrom))
    throw new UsageError(`--url-from ${flags.urlFrom}: expected the name of an environment variable`);
  if (flags.stored === true && flags.urlFrom !== undefined)
    throw new UsageError(
      '--stored and --url-from: a view that Millrace stores does not read the Redis of Feast',
    );
  const registry = await openRegistry(file);
  const project = flags.feastProject ?? registry.project;
  if (project === undefined)
    throw new CommandFailure(`${file} does not name its project`, 'add --feast-project');
  const imported = importRegistry(registry, {
    project,
    keyVersion: flags.keyVersion === '2' ? 2 : 3,
    urlVariable: flags.urlFrom,
    isStored: flags.stored === true,
  });
  const written = await write(context, root, imported, flags.force === true);
  for (const problem of imported.problems) context.stderr.write(`${problem}\n`);
  const counts = `${count(imported.views.size, 'feature view')} with ${count(imported.features, 'feature')}`;
  context.stderr.write(`${counts} in the registry; ${count(written, 'file')} written\n`);
}

async function openRegistry(file: string): Promise<FeastRegistry> {
  let registry: FeastRegistry | undefined;
  try {
    if ((await stat(file)).size <= MOST_BYTES)
      registry = readRegistry(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = error instanceof SyntaxError ? 'is not JSON' : `cannot be read (${code ?? 'unknown'})`;
    throw new CommandFailure(`${file} ${why}`, 'create it with `feast registry-dump`', { cause: error });
  }
  if (registry === undefined)
    throw new CommandFailure(
      `${file} is not the dump of a Feast registry`,
      'create it with `feast registry-dump`',
    );
  return registry;
}

/** Writes the files and prints the outcome for each file. Returns the number of written files. */
async function write(
  context: CliContext,
  root: string,
  { views, entities }: RegistryImport,
  force: boolean,
): Promise<number> {
  let written = 0;
  const put = async (kind: string, name: string, text: string, replace: boolean): Promise<void> => {
    const path = `schemas/${kind}/${name}.yaml`;
    const there = await readFile(join(root, path), 'utf8').catch(() => undefined);
    if (there !== undefined && (there === text || !replace)) {
      context.stdout.write(
        `${path}  ${there === text || kind === 'entities' ? 'unchanged' : 'kept; --force replaces it'}\n`,
      );
      return;
    }
    await mkdir(join(root, 'schemas', kind), { recursive: true });
    await writeFile(join(root, path), text, { flag: replace ? 'w' : 'wx' });
    context.stdout.write(`${path}  ${there === undefined ? 'written' : 'replaced'}\n`);
    written++;
  };
  for (const [name, text] of entities) await put('entities', name, text, false);
  for (const [name, text] of views) await put('features', name, text, force);
  return written;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
