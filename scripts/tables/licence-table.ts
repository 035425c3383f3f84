import { productionPackages, readLockFile } from '../lock-file.js';
import { markdownTable } from './markdown-table.js';

/** The production packages by licence, as the lock file lists them. */
export function licenceTable(lockFile: string): string {
  const byLicence = new Map<string, Set<string>>();
  for (const { name, license = 'none' } of productionPackages(readLockFile(lockFile))) {
    const names = byLicence.get(license) ?? new Set();
    byLicence.set(license, names.add(name));
  }
  return markdownTable(
    ['licence', 'packages'],
    [...byLicence].sort().map(([licence, names]) => [licence, [...names].join(', ')]),
  );
}
