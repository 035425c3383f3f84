import type { StoreEnginePlugin } from '../../../ground/api/store-engine.js';
import { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import { loadPackages } from '../../../project/config/project/load-packages.js';
import type { LinkedFolders } from '../../../project/settings/linked-folders.js';
import { resolveApiToThisCopy } from './api-module.js';
import { loadPackage } from './load-package.js';

/** Finds a store engine in the packages of a project. Their errors are reported where the project is checked. */
export async function findStoreEngine(
  name: string,
  project: string,
  linked: LinkedFolders,
): Promise<StoreEnginePlugin | undefined> {
  resolveApiToThisCopy();
  for (const wanted of await loadPackages(project, process.env, new Diagnostics())) {
    const loaded = await loadPackage(wanted, project, linked);
    const found = 'contents' in loaded ? loaded.contents.stores.find((one) => one.name === name) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
