import { expect } from 'chai';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryPath } from '../support/repository.js';

/** What a user reads or runs: pages, examples, templates, messages, scripts and workflows. CHANGELOG.md tells of the past. */
const WHERE =
  'README.md CONTRIBUTING.md SECURITY.md Dockerfile docker-compose.yml package.json .ci docs plugins clients deploy runtime scripts pipelines tests schemas';
const READ = /\.(?:md|ts|mjs|js|json|ya?ml|py|toml|html|sh)$|(?:^|\/)(?:Dockerfile|run)$/;
const SKIPPED = /(?:^|\/)(?:node_modules|dist|build|\.build|package-lock\.json|__pycache__)(?:\/|$)/;
/** Our packages, which no registry has, and programs whose name at a registry is another package. */
const UNPUBLISHED = String.raw`(?:millrace(?:-client)?|@millrace\/client|tsc)(?![\w./-])`;
const FETCHES: readonly RegExp[] = [
  new RegExp(String.raw`\bnpx (?!--no )(?:-\S+ )*${UNPUBLISHED}`),
  new RegExp(String.raw`\b(?:npm (?:i|install|add|create|exec)|yarn add|pnpm add) (?:-\S+ )*${UNPUBLISHED}`),
  new RegExp(String.raw`\b(?:pip install|pipx run|uvx?) (?:-\S+ )*['"]?${UNPUBLISHED}`),
  /"(?:millrace|@millrace\/client)": "(?!file:)[\^~>=*\d]/,
];

function filesIn(path: string): readonly string[] {
  if (!statSync(repositoryPath(path)).isDirectory()) return [path];
  return readdirSync(repositoryPath(path), { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((name) => !SKIPPED.test(name) && READ.test(name) && statSync(repositoryPath(name)).isFile());
}

const fetchesIn = (text: string): readonly string[] =>
  text.split('\n').filter((line) => FETCHES.some((pattern) => pattern.test(line)));

describe('the packages of this repository, which no registry has', () => {
  it('are fetched by name nowhere: not in pages, templates, messages or scripts', () => {
    const files = WHERE.split(' ').flatMap(filesIn);
    expect(files.length).to.be.above(500);
    const found = files.flatMap((file) =>
      fetchesIn(readFileSync(repositoryPath(file), 'utf8')).map((line) => `${file}: ${line.trim()}`),
    );
    expect(found).to.deep.equal([]);
  });

  it('are found in each form', () => {
    for (const line of [
      'npx millrace validate',
      'npx --yes millrace init',
      'run `npx tsc` in the project',
      'npm install millrace',
      'npm i --save-dev millrace',
      'pip install millrace',
      'npm install @millrace/client',
      '"millrace": "^0.1.0",',
    ])
      expect(fetchesIn(line), line).to.have.length(1);
    for (const line of [
      'npx --no millrace validate',
      'npm install ../millrace/millrace-0.1.0.tgz',
      'npm install millrace-shop',
      'npm install ./clients/typescript',
      '"millrace": "file:../../.."',
    ])
      expect(fetchesIn(line), line).to.have.length(0);
  });

  it('have a version with a section in the changelog', () => {
    const { version } = JSON.parse(readFileSync(repositoryPath('package.json'), 'utf8')) as {
      version: string;
    };
    const [, newest] =
      /^## \[(\d.*?)\] - \d{4}-\d\d-\d\d$/m.exec(readFileSync(repositoryPath('CHANGELOG.md'), 'utf8')) ?? [];
    expect(newest).to.equal(version);
  });

  it('are installed from the tarball that `npm pack` writes', () => {
    const { name, version } = JSON.parse(readFileSync(repositoryPath('package.json'), 'utf8')) as {
      name: string;
      version: string;
    };
    const tarball = `${name}-${version}.tgz`;
    const page = readFileSync(repositoryPath('docs', 'start.md'), 'utf8');
    expect(page).to.contain(`npm install ../millrace/${tarball}`);
    expect([...page.matchAll(/millrace-[\d.]+tgz/g)].map(([found]) => found)).to.satisfy((all: string[]) =>
      all.every((one) => one === tarball),
    );
  });
});
