import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { millrace } from '../support/command-line.js';
import { foreignShop } from '../support/foreign-shop.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';

const PAGE = repositoryPath('docs/import.md');
const OUTPUT = /(^```text output=import\n)([\s\S]*?)(^```$)/m;

/** UPDATE_GOLDEN=1 rewrites the output in the page. */
describe('docs/import.md', () => {
  const page = readFileSync(PAGE, 'utf8');

  it('leads from a folder of logs to a data set and a ranking', async () => {
    const logs = Object.entries(foreignShop()).map(([name, text]) => [`logs/${name}`, text] as const);
    await withFiles(Object.fromEntries(logs), async (root) => {
      const before = process.cwd();
      process.chdir(root);
      try {
        const commands =
          /^```sh\n(millrace ledger import[\s\S]*?)^```$/m.exec(page)?.[1]?.trim().split('\n') ?? [];
        expect(commands).to.have.length(6);
        const run = async (line: string): Promise<string> => {
          const { code, stdout, stderr } = await millrace(line.split(' ').slice(1));
          expect(code, `${line}\n${stderr}`).to.equal(0);
          return stdout;
        };
        const [first = '', folder = '', build = ''] = commands;
        const printed = (await run(first)).replace(/in [\d.]+ s$/m, 'in # s');
        if (process.env.UPDATE_GOLDEN)
          writeFileSync(
            PAGE,
            page.replace(OUTPUT, (_, open: string, __, end: string) => open + printed + end),
          );
        else expect(printed).to.equal(OUTPUT.exec(page)?.[2]);
        for (const line of printed.split('\n')) expect(line.length).to.be.at.most(80);

        process.chdir(join(root, folder.replace('cd ', '')));
        await run(build);
        const manifest = JSON.parse(readFileSync('data/manifest.json', 'utf8')) as {
          readonly features: readonly { readonly name: string }[];
          readonly rows: { readonly train: number };
          readonly computed_at_import: boolean;
        };
        expect(manifest.computed_at_import).to.equal(true);
        expect(manifest.rows.train).to.be.above(2000);
        expect(manifest.features.map(({ name }) => name)).to.include.members([
          'product.price',
          'product.brand',
          'product.rating',
        ]);
        writeFileSync('request.json', '{"candidates": [{"product_id": "i001"}, {"product_id": "i002"}]}');
        expect(await run('millrace rank search request.json')).to.contain('i002');
      } finally {
        process.chdir(before);
      }
    });
  }).timeout(60_000);

  it('has a mapping that is read without mistakes', async () => {
    const mapping = /^```yaml file=import.yaml\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '';
    const files = {
      'import.yaml': mapping,
      'logs/items.csv': 'item_id,price\np1,2\n',
      'logs/impressions-1.csv':
        'request_id,shown_at,user_id,item_id,rank,clicked,ordered_at,device,price_shown\nr1,1769851800,u1,p1,0,1,,phone,2\n',
      'logs/carts.jsonl': '{"request_id":"r1","ts":1769851860,"user_id":"u1","item":{"id":"p1"}}\n',
    };
    // The pattern of the page is for compressed files.
    files['import.yaml'] = mapping.replace('.csv.gz', '.csv');
    await withFiles(files, async (root) => {
      const { code, stdout, stderr } = await millrace([
        ...['ledger', 'import', join(root, 'logs'), '--map', join(root, 'import.yaml'), '--json'],
        ...['--new-project', join(root, 'shop'), '--rejected', join(root, 'rejected.jsonl')],
      ]);
      expect(code, stderr).to.equal(0);
      expect(JSON.parse(stdout)).to.deep.include({
        rankings: 1,
        feedback: { click: 1, cart: 1 },
        rejected: {},
      });
    });
  }).timeout(30_000);
});
