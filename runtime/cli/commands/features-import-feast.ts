import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { counted } from '../../ground/core/count.js';
import { importRegistry, type RegistryImport } from '../../state/feast/import-registry.js';
import { readRegistry, type FeastRegistry } from '../../state/feast/registry.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { addSettingFlags } from '../setting-flags.js';
import type { SettingFlags } from '../../project/settings/settings.js';

type Flags = SettingFlags & {
  readonly feastProject?: string;
  readonly keyVersion: string;
  readonly urlFrom?: string;
  readonly stored?: true;
  readonly exact?: readonly string[];
  readonly force?: true;
  readonly json?: true;
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
    .option(
      '--exact <FEATURES...>',
      'INT64 features, as view:feature, to carry as text with all digits because they are ids or labels',
    )
    .option('--force', 'replace existing feature views; entity types are never replaced')
    .option('--json', 'print the files and the problems as JSON')
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
    exact: new Set(flags.exact),
  });
  const files = await write(root, imported, flags.force === true);
  const { views, features, problems } = imported;
  if (flags.json === true) {
    printJson(context, { views: views.size, features, files, problems });
    return;
  }
  for (const { path, outcome } of files)
    context.stdout.write(`${path}  ${outcome}${outcome === 'kept' ? '; --force replaces it' : ''}\n`);
  for (const problem of problems) context.stderr.write(`${problem}\n`);
  const written = files.filter(({ outcome }) => outcome === 'written' || outcome === 'replaced').length;
  const counts = `${counted(views.size, 'feature view')} with ${counted(features, 'feature')}`;
  context.stderr.write(`${counts} in the registry; ${counted(written, 'file')} written\n`);
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

interface WrittenFile {
  readonly path: string;
  readonly outcome: 'written' | 'replaced' | 'unchanged' | 'kept';
}

/** Writes the files, and returns the outcome for each file. */
async function write(
  root: string,
  { views, entities }: RegistryImport,
  force: boolean,
): Promise<WrittenFile[]> {
  const put = async (kind: string, name: string, text: string, replace: boolean): Promise<WrittenFile> => {
    const path = `schemas/${kind}/${name}.yaml`;
    const there = await readFile(join(root, path), 'utf8').catch(() => undefined);
    if (there !== undefined && (there === text || !replace))
      return { path, outcome: there === text || kind === 'entities' ? 'unchanged' : 'kept' };
    await mkdir(join(root, 'schemas', kind), { recursive: true });
    await writeFile(join(root, path), text, { flag: replace ? 'w' : 'wx' });
    return { path, outcome: there === undefined ? 'written' : 'replaced' };
  };
  const files: WrittenFile[] = [];
  for (const [name, text] of entities) files.push(await put('entities', name, text, false));
  for (const [name, text] of views) files.push(await put('features', name, text, force));
  return files;
}
