import { existsSync, readdirSync } from 'node:fs';
import { repositoryPath } from './repository.js';

/** The pages of docs and of its folders: `http.md`, `reference/cli.md`. The READMEs in docs/examples are none. */
export const DOCS = (readdirSync(repositoryPath('docs'), { recursive: true }) as string[])
  .filter((name) => name.endsWith('.md') && !name.startsWith('examples'))
  .sort();

/** All pages that are kept up to date: of the repository, of docs, and the READMEs of wings, plugins, clients and examples. */
export const PAGES = [
  ...readdirSync(repositoryPath()).filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md'),
  ...DOCS.map((name) => `docs/${name}`),
  ...['runtime', 'plugins', 'clients', 'docs/examples']
    .flatMap((folder) => readdirSync(repositoryPath(folder)).map((name) => `${folder}/${name}/README.md`))
    .filter((path) => existsSync(repositoryPath(path))),
];
