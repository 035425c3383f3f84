import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A version, as `npm pack` and `pip wheel` write it into names. */
const VERSION = String.raw`\d+\.\d+\.\d+`;

/** The files that state the version of Millrace, with what stands before it. package.json is the place that a release changes. */
const PLACES: readonly (readonly [path: string, before: string])[] = [
  ['package-lock.json', String.raw`^(?: {2}| {6})"name": "millrace",\n +"version": "`],
  ['clients/python/pyproject.toml', '^version = "'],
  ['clients/typescript/package.json', '^ {2}"version": "'],
  ['clients/typescript/package-lock.json', String.raw`"name": "@millrace/client",\n +"version": "`],
  ['deploy/kubernetes/millrace.yaml', 'image: millrace:'],
  ['deploy/kubernetes/retrain.yaml', 'image: millrace-jobs:'],
  ['docs/clients.md', "'millrace-"],
  ['docs/deploy.md', 'FROM millrace:'],
  ['docs/start.md', '\\bmillrace-'],
];

/** The content of each of these files, with the version of package.json. @throws Error if a file states none */
export function withStatedVersion(root: string): (readonly [path: string, content: string])[] {
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const { version } = JSON.parse(read('package.json')) as { readonly version: string };
  return PLACES.map(([path, before]) => {
    const pattern = new RegExp(`(${before})${VERSION}`, 'gm');
    const content = read(path);
    if (content.search(pattern) < 0) throw new Error(`${path} states no version`);
    return [path, content.replace(pattern, `$1${version}`)];
  });
}
