/**
 * `npm run sbom` writes the software bill of materials of the production packages to .build/sbom.cdx.json, in CycloneDX.
 * `npm sbom --omit=dev` leaves out production packages that a development package needs too, such as yaml. This script
 * asks for all packages and keeps those of the lock file's production tree.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { productionPackages, readLockFile } from './lock-file.js';

interface Bom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: object };
  readonly components: readonly { readonly purl: string; readonly 'bom-ref': string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const file = join(root, '.build', 'sbom.cdx.json');
const bom = JSON.parse(
  execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  }),
) as Bom;

const wanted = new Set(
  productionPackages(readLockFile(join(root, 'package-lock.json'))).map(
    ({ name, version = '' }) => `pkg:npm/${name}@${version}`,
  ),
);
const components = bom.components.filter(({ purl }) => wanted.delete(decodeURIComponent(purl)));
if (bom.bomFormat !== 'CycloneDX' || wanted.size > 0) {
  console.error(`the bill of materials lacks ${[...wanted].join(', ')}`);
  process.exitCode = 1;
} else {
  const refs = new Set(components.map((component) => component['bom-ref']));
  const dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref) || ref.startsWith('millrace@'))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }));
  const metadata = { ...bom.metadata, component: { ...bom.metadata.component, name: 'millrace' } };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ ...bom, metadata, components, dependencies }, undefined, 2));
  console.log(`.build/sbom.cdx.json: ${components.length} packages`);
}
