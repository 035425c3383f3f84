import { join, relative, sep } from 'node:path';
import { PROJECT_FILE } from '../../../project/settings/setting-origin.js';
import type { LinkedFolders } from '../../../project/settings/linked-folders.js';
import type { Located } from '../../../project/config/yaml/source.js';
import { didYouMean } from '../../../ground/core/nearest.js';
import { checkPackage, type PackageContents } from './check-package.js';
import type { PluginFault } from './check-plugin.js';
import { codeVersion, codeVersions, importModule } from './import-module.js';
import { firstLine } from './first-line.js';
import { findPackageFolder, installedPackages } from './package-folder.js';
import { readManifest } from './package-manifest.js';

/** A package of plugins that was loaded. */
export interface LoadedPackage {
  readonly name: string;
  readonly version: string;
  /** The range of versions of the plugin API in its package.json. */
  readonly api: string;
  readonly contents: PackageContents;
  /**
   * Its files of code, relative to the project, with their versions. A service that watches the project also watches them.
   */
  readonly files: ReadonlyMap<string, string>;
}

/** The folders of the packages that this process has loaded, with their names: stacks of errors show them. */
export const PACKAGE_FOLDERS = new Map<string, string>();

/**
 * Loads a package that millrace.yaml names. Its errors are reported there, because the project cannot change the package.
 * @param limitMs how long its module may take to load
 */
export async function loadPackage(
  { value: name, at }: Located<string>,
  project: string,
  linked: LinkedFolders,
  limitMs?: number,
): Promise<LoadedPackage | readonly PluginFault[]> {
  const about = `\`${name}\`: `;
  const fault = (message: string, help?: string): PluginFault[] => [
    { at, message: about + message, ...(help === undefined ? {} : { help }) },
  ];
  const found = await findPackageFolder(project, name, linked);
  if (found === undefined)
    return [{ at, message: `\`${name}\` is not installed`, help: await installHelp(name, project) }];
  if ('message' in found) return fault(found.message, found.help);
  const manifest = await readManifest(found.path);
  if ('message' in manifest) return fault(manifest.message, manifest.help);
  PACKAGE_FOLDERS.set(found.path, name);
  const code = await codeVersions(found.path);
  let exported: Readonly<Record<string, unknown>>;
  try {
    exported = await importModule(manifest.module, found.path, codeVersion(code), limitMs);
  } catch (error) {
    return fault(
      `it cannot be loaded: ${firstLine(error)}`,
      'install another version of the package, or remove it here',
    );
  }
  const contents = checkPackage(exported, at, about);
  if (Array.isArray(contents)) return contents as readonly PluginFault[];
  const files = new Map(
    Array.from(code, ([file, one]) => [relative(project, join(found.path, file)).replaceAll(sep, '/'), one]),
  );
  const { version, api } = manifest;
  return { name, version, api, contents: contents as PackageContents, files };
}

async function installHelp(name: string, project: string): Promise<string> {
  return (
    didYouMean(name, await installedPackages(project)) ??
    `run \`npm install ${name}\` in the folder of ${PROJECT_FILE}`
  );
}
