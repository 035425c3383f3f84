import { isJsonObject } from '../../../ground/core/value-fit.js';
import { readFile, realpath, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import semver from 'semver';
import { API_VERSION } from '../../../ground/api/version.js';
import { reasonOf } from '../../../project/config/project/project-files.js';
import { didYouMean } from '../../../ground/core/nearest.js';
import { isWithin } from '../../../project/settings/linked-folders.js';

/** What the package.json of a package says about its plugins. */
export interface PackageManifest {
  readonly version: string;
  /** The versions of the plugin API that it works with. */
  readonly api: string;
  /** The path of the module that exports its plugins. */
  readonly module: string;
}

/** Why a package cannot be used. The message continues a sentence that begins with the name of the package. */
export interface PackageFault {
  readonly message: string;
  readonly help?: string;
}

const FIELD = '"millrace": { "api": "^1.0", "plugins": "./index.js" }';
const KEYS: readonly string[] = ['api', 'plugins'];

/** Reads and checks the package.json of an installed package. */
export async function readManifest(folder: string): Promise<PackageManifest | PackageFault> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch((error: unknown) => error);
  if (typeof text !== 'string')
    return {
      message: `its package.json cannot be read: ${missing(text)}`,
      help: 'install the package again',
    };
  const manifest = parseObject(text);
  if (manifest === undefined)
    return { message: 'its package.json is not a JSON object', help: 'install the package again' };
  const { millrace } = manifest;
  if (millrace === undefined)
    return {
      message: 'its package.json has no `millrace`, so it declares no plugins',
      help: `the author of a plugin adds ${FIELD}`,
    };
  if (!isJsonObject(millrace))
    return { message: '`millrace` in its package.json is not an object', help: `for example ${FIELD}` };
  const unknown = Object.keys(millrace).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    return {
      message: `\`millrace.${unknown}\` in its package.json is unknown`,
      help: didYouMean(unknown, KEYS) ?? `for example ${FIELD}`,
    };
  }
  const { api, plugins } = millrace;
  const range = typeof api === 'string' ? semver.validRange(api) : null;
  if (typeof api !== 'string' || range === null)
    return {
      message: `\`millrace.api\` in its package.json is ${shown(api)}: expected a range of versions of the plugin API`,
      help: 'for example "api": "^1.0"',
    };
  const version = typeof manifest.version === 'string' ? manifest.version : '0.0.0';
  if (!semver.satisfies(API_VERSION, range))
    return {
      message: `version ${version} needs the plugin API ${api}, and this Millrace has ${API_VERSION}`,
      help: `install a version of the package for the plugin API ${API_VERSION}, or another version of Millrace`,
    };
  const found = await findModule(folder, plugins, manifest.type === 'module');
  return typeof found === 'string' ? { version, api, module: found } : found;
}

async function findModule(
  folder: string,
  plugins: unknown,
  isModule: boolean,
): Promise<string | PackageFault> {
  if (typeof plugins !== 'string' || plugins === '')
    return {
      message: `\`millrace.plugins\` in its package.json is ${shown(plugins)}: expected the path of a module`,
      help: 'for example "plugins": "./index.js"',
    };
  const path = join(folder, plugins);
  const outside: PackageFault = {
    message: `\`millrace.plugins\` in its package.json is \`${plugins}\`, which leaves the package`,
    help: 'the module must be a file of the package',
  };
  if (!isWithin(folder, path)) return outside;
  const info = await stat(path).catch(() => undefined);
  if (info?.isFile() !== true)
    return {
      message: `\`millrace.plugins\` in its package.json is \`${plugins}\`: there is no such file`,
      help: 'a package written in TypeScript has to be compiled first; a published one must list the file under "files"',
    };
  if (!isWithin(folder, await realpath(path))) return outside;
  const extension = extname(path);
  if (extension === '.mjs' || (extension === '.js' && isModule)) return path;
  return extension === '.js' || extension === '.cjs'
    ? {
        message: `\`${plugins}\` is a CommonJS module: the plugins of a package are an ES module`,
        help: 'write `export` and `import`, and add "type": "module" to its package.json',
      }
    : {
        message: `\`${plugins}\` is not JavaScript: expected a file that ends in .js or .mjs`,
        help: 'compile it, and name the compiled file',
      };
}

/** JSON.parse makes `__proto__` a plain member, and this reads own members only. */
function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return isJsonObject(value) ? ownMembers(value) : undefined;
  } catch {
    return undefined;
  }
}

function ownMembers(value: object): Readonly<Record<string, unknown>> {
  return Object.assign(Object.create(null) as Record<string, unknown>, value);
}

function missing(error: unknown): string {
  return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : reasonOf(error);
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : `\`${JSON.stringify(value)}\``;
}
