/** Imports the code of plugins, and imports it again after it has changed. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { VERSION_QUERY } from './module-version.js';

/** How long a module may take to load, in milliseconds. Its top level may await something that never comes. */
export const IMPORT_MS = 10_000;

/** The parts of a plugin that its modules load once. */
const CODE = /\.(?:m?js|cjs|json|wasm|node)$/;

/** By file: the version of the code that was imported first. Its URL has no query. */
const first = new Map<string, string>();

const require = createRequire(import.meta.url);

/**
 * Imports a module. If code of its folder has changed since the first import, the module is imported again, with the
 * modules that it names by relative paths. Node cannot unload the code that was imported before.
 * @param version of the folder's code: see `codeVersion`
 * @throws what the module throws; Error if it does not finish in time, or if it changes what all modules share
 */
export async function importModule(
  file: string,
  folder: string,
  version: string,
  limitMs = IMPORT_MS,
): Promise<Readonly<Record<string, unknown>>> {
  const url = pathToFileURL(file);
  const known = first.get(file);
  if (known === undefined) first.set(file, version);
  else if (known !== version) {
    url.searchParams.set(VERSION_QUERY, version);
    forgetCommonJs(folder);
  }
  const builtIns = BUILT_INS.map(([name, prototype]) => ({ name, prototype, members: membersOf(prototype) }));
  const stop = new AbortController();
  const late = pause(limitMs, undefined, { signal: stop.signal }).then(() => {
    throw new Error(
      `its top level did not finish within ${limitMs / 1000} s: it awaits something that does not come`,
    );
  });
  try {
    return (await Promise.race([import(url.href), late])) as Record<string, unknown>;
  } finally {
    stop.abort();
    late.catch(() => undefined);
    for (const one of builtIns) refuseChange(one);
  }
}

/** The version of each file of code in a folder, without those of packages inside it, by its path in the folder. */
export async function codeVersions(folder: string): Promise<ReadonlyMap<string, string>> {
  const versions = new Map<string, string>();
  for (const path of await codeFiles(folder))
    versions.set(path, versionOf(await readFile(join(folder, path))));
  return versions;
}

/** The version of all code of a folder. */
export function codeVersion(versions: ReadonlyMap<string, string>): string {
  return versionOf(JSON.stringify([...versions]));
}

function versionOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}

/** The files of code in a folder, sorted, as paths relative to it. */
async function codeFiles(folder: string, below = ''): Promise<string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
  const found = entries
    .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
    .map(async (entry) => {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) return codeFiles(folder, path);
      return entry.isFile() && CODE.test(entry.name) ? [path] : [];
    });
  return (await Promise.all(found)).flat().sort();
}

function forgetCommonJs(folder: string): void {
  for (const path of Object.keys(require.cache))
    if (path.startsWith(folder + sep)) Reflect.deleteProperty(require.cache, path);
}

const BUILT_INS: readonly (readonly [string, object])[] = [
  ['Object.prototype', Object.prototype],
  ['Array.prototype', Array.prototype],
  ['Function.prototype', Function.prototype],
  ['String.prototype', String.prototype],
  ['Map.prototype', Map.prototype],
  ['Promise.prototype', Promise.prototype],
];

type Members = ReadonlyMap<PropertyKey, PropertyDescriptor>;

function membersOf(prototype: object): Members {
  return new Map(
    Reflect.ownKeys(prototype).map((key) => [key, Object.getOwnPropertyDescriptor(prototype, key) ?? {}]),
  );
}

/** Undoes what a module changed in a prototype of the language, which would change all other code. */
function refuseChange({
  name,
  prototype,
  members,
}: {
  name: string;
  prototype: object;
  members: Members;
}): void {
  const changed = new Set<string>();
  for (const key of Reflect.ownKeys(prototype)) {
    if (members.has(key)) continue;
    changed.add(String(key));
    Reflect.deleteProperty(prototype, key);
  }
  for (const [key, before] of members) {
    const now = Object.getOwnPropertyDescriptor(prototype, key);
    if (now?.value === before.value && now?.get === before.get) continue;
    changed.add(String(key));
    Reflect.defineProperty(prototype, key, before);
  }
  if (changed.size > 0)
    throw new Error(
      `it changes ${name}, which all code shares: ${[...changed].join(', ')}; the change was undone`,
    );
}
