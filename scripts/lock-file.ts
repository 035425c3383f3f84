import { readFileSync } from 'node:fs';

/** An entry of package-lock.json. */
interface Entry {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly license?: string;
}

export interface LockFile {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, Entry>>;
}

export interface LockedPackage extends Entry {
  readonly name: string;
}

/** Licences that allow use in closed products, without a duty to publish source code. */
const ALLOWED = ['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0'];

export function readLockFile(path: string): LockFile {
  return JSON.parse(readFileSync(path, 'utf8')) as LockFile;
}

/** The packages that the service runs with, by name. */
export function productionPackages({ packages }: LockFile): LockedPackage[] {
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, entry]) => ({ ...entry, name: nameOf(path) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Lists what is wrong with the lock file and the licences of the production packages. */
export function faultsOf(lock: LockFile): string[] {
  const faults = lock.lockfileVersion === 3 ? [] : ['lockfileVersion is not 3'];
  const hosts = new Set<string>();
  for (const [path, { integrity, resolved, link, version }] of Object.entries(lock.packages)) {
    if (path === '') continue;
    const name = nameOf(path);
    if (link === true) faults.push(`${name} is a link to a folder`);
    if (integrity?.startsWith('sha512-') !== true) faults.push(`${name} has no SHA-512 of its content`);
    if (!/^\d+\.\d+\.\d+/.test(version ?? '')) faults.push(`${name} is not a version of the registry`);
    if (resolved === undefined) continue;
    if (!resolved.startsWith('https://')) faults.push(`${name} does not come from a registry over HTTPS`);
    else hosts.add(new URL(resolved).host);
  }
  if (hosts.size > 1) faults.push(`packages come from ${hosts.size} hosts`);
  for (const { name, license } of productionPackages(lock))
    if (!ALLOWED.includes(license ?? '')) faults.push(`${name} has the licence ${license ?? 'none'}`);
  return faults;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
