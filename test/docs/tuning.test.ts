import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { millrace } from '../support/command-line.js';
import { writeProject } from '../support/project.js';
import { repositoryPath } from '../support/repository.js';
import { tuningShop } from '../support/tuning-shop.js';

const PAGE = repositoryPath('docs/learn/tuning.md');
const OUTPUT = /(^```text output=tune\n)([\s\S]*?)(^```$)/m;

/** UPDATE_GOLDEN=1 rewrites the output in the page. */
describe('docs/learn/tuning.md', () => {
  const page = readFileSync(PAGE, 'utf8');
  let root = '';
  before(async () => {
    const files = [...page.matchAll(/^```yaml file=(\S+)\n([\s\S]*?)^```$/gm)].map(
      ([, path = '', text = '']) => [path, text] as const,
    );
    expect(files).to.have.length(2);
    const { products, judgments } = tuningShop();
    root = await writeProject({
      ...Object.fromEntries(files),
      'products.jsonl': products,
      'judgments.csv': judgments,
    });
  });
  after(async () => {
    await rm(root, { recursive: true, force: true });
  });

  it('shows what the commands print, and what --write changes', async () => {
    const store = ['--project', root, '--store', 'embedded', '--data-dir', join(root, 'data')];
    const loaded = await millrace(['entities', 'load', 'product', join(root, 'products.jsonl'), ...store]);
    expect(loaded.code, loaded.stderr).to.equal(0);
    const tune = ['tune', 'search', '--judgments', join(root, 'judgments.csv'), ...store];
    const shown = await millrace(tune);
    expect(shown.code, shown.stderr).to.equal(0);
    if (process.env.UPDATE_GOLDEN)
      writeFileSync(
        PAGE,
        page.replace(OUTPUT, (_, open: string, __, end: string) => open + shown.stdout + end),
      );
    else expect(shown.stdout).to.equal(OUTPUT.exec(page)?.[2]);
    for (const line of shown.stdout.split('\n')) expect(line.length).to.be.at.most(80);

    const file = join(root, 'pipelines/search.yaml');
    const before = await readFile(file, 'utf8');
    const written = await millrace([...tune, '--write']);
    expect(written.stdout).to.contain('written to pipelines/search.yaml');
    const changed = shown.stdout.split('\n').filter((line) => /^[-+] /.test(line));
    let expected = before;
    for (let at = 0; at < changed.length; at += 2)
      expected = expected.replace(changed[at]?.slice(1) ?? '', changed[at + 1]?.slice(1) ?? '');
    expect(changed.length).to.be.above(1);
    expect(await readFile(file, 'utf8')).to.equal(expected);
  }).timeout(60_000);
});
