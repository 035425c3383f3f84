import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repositoryPath } from '../support/repository.js';

describe('the npm package', () => {
  let files: ReadonlySet<string>;

  before(function () {
    this.timeout(60_000);
    files = packedFiles();
  });

  it('holds the licence, the changelog, the docs, the code, its declarations and maps, but no sources', () => {
    expect([...files]).to.include.members([
      'LICENSE',
      'CHANGELOG.md',
      'README.md',
      'SECURITY.md',
      'docs/architecture.md',
      'dist/bundle/bin.js',
      'dist/bundle/LICENSES.txt',
      'dist/runtime/ground/sdk/index.d.ts',
      'plugins/boost/README.md',
    ]);
    expect(
      [...files].filter((file) => !file.startsWith('docs/examples/') && /(?<!\.d)\.ts$/.test(file)),
    ).to.deep.equal([]);
    const maps = [...files].filter((file) => file.endsWith('.map'));
    expect(maps.length).to.be.greaterThan(10);
    for (const file of maps)
      expect(JSON.parse(readFileSync(repositoryPath(file), 'utf8'))).not.to.have.property('sourcesContent');
  });

  it('names the source in the stack of an error', () => {
    const script = `process.setSourceMapsEnabled(true);
      const { parseDuration } = await import(${JSON.stringify(pathToFileURL(repositoryPath('dist/bundle/api.js')))});
      try { parseDuration(Symbol()); } catch (error) { console.log(error.stack); }`;
    const stack = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
    });
    const [, file = '', line = ''] = /\((.+?):(\d+):\d+\)/.exec(stack) ?? [];
    expect(file, stack).to.equal(repositoryPath('runtime/ground/api/duration.ts'));
    expect(readFileSync(file, 'utf8').split('\n')[Number(line) - 1]).to.contain('text');
  });

  it('has a command that a clone can run with npx', () => {
    accessSync(repositoryPath('dist/bundle/bin.js'), constants.X_OK);
  });

  it('holds every declaration that those of its exports import', () => {
    const { exports } = JSON.parse(readFileSync(repositoryPath('package.json'), 'utf8')) as {
      readonly exports: Readonly<Record<string, { readonly types: string }>>;
    };
    const reached = new Set(Object.values(exports).map(({ types }) => posix.normalize(types)));
    for (const file of reached)
      for (const [, path = ''] of readFileSync(repositoryPath(file), 'utf8').matchAll(/'(\.[^']+)\.js'/g))
        reached.add(posix.join(posix.dirname(file), `${path}.d.ts`));
    expect(reached.size).to.be.greaterThan(50);
    expect([...reached].filter((file) => !files.has(file))).to.deep.equal([]);
  });

  it('holds nothing of the tests, benchmarks and tools', () => {
    const unwanted = /^(?:dist\/)?(?:test|bench|scripts)\/|^\.|\/\./;
    expect([...files].filter((file) => unwanted.test(file))).to.deep.equal([]);
  });

  it('holds every file and heading that a page of it links to', () => {
    const broken = [...files]
      .filter((file) => file.endsWith('.md'))
      .flatMap((page) => brokenLinks(page, files));
    expect(broken).to.deep.equal([]);
  });
});

function packedFiles(): ReadonlySet<string> {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const json = execFileSync(npm, ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: repositoryPath(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  });
  const [packed] = JSON.parse(json) as readonly { readonly files: readonly { readonly path: string }[] }[];
  return new Set(packed?.files.map(({ path }) => path));
}

function brokenLinks(page: string, files: ReadonlySet<string>): readonly string[] {
  const text = readFileSync(repositoryPath(page), 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link) && !isThere(page, link, files))
    .map((link) => `${page}: ${link}`);
}

function isThere(page: string, link: string, files: ReadonlySet<string>): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? page : posix.join(posix.dirname(page), path).replace(/\/$/, '');
  // The map of the code leads to its sources, which are in the repository.
  if (/^runtime(\/|$)/.test(target)) return existsSync(repositoryPath(target));
  if (!files.has(target)) return [...files].some((file) => file.startsWith(`${target}/`));
  return heading === undefined || headingsOf(target).has(heading);
}

/** The anchors that a page's headings get on GitHub. */
function headingsOf(page: string): ReadonlySet<string> {
  const text = readFileSync(repositoryPath(page), 'utf8');
  const anchors = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(anchors);
}
