import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { millrace } from '../support/command-line.js';
import { earlierLedger, experimentLedger, exploredLedger } from '../support/experiment-shop.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';

const PATH = repositoryPath('docs', 'experiments/reports.md');
const page = readFileSync(PATH, 'utf8');

const PIPELINE = (name: string, score: string): string => `
pipeline: ${name}
rank: product
request: { candidates: {}, user: optional(user) }
params: { w_pop: 0.3 }
components:
  - use: score
    with: { value: '${score}' }
page: { size: 5 }
log: { unit: user, candidates: all }
`;

/** The project that the page is about. Of the products, those with higher numbers are newer. */
const FILES = {
  'millrace.yaml': 'project: shop\nstore: embedded\nevents: { order: { revenue: float } }\n',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { number: int, newest: int }\n',
  'pipelines/search.yaml': PIPELINE('search', 'w_pop - product.number'),
  'pipelines/newest.yaml': PIPELINE('newest', 'w_pop - product.newest'),
};

/** The order of the evaluated pipeline: each product and its neighbour swapped. */
const NEWEST = [2, 1, 4, 3, 5];

describe('docs/experiments/reports.md', () => {
  it('shows commands with what they print', function () {
    this.timeout(60_000);
    const blocks = [...page.matchAll(/^```\w+ file=(\S+)\n([\s\S]*?)^```$/gm)];
    const files = Object.fromEntries(blocks.map(([, path = '', text = '']) => [path, text]));
    expect(Object.keys(files)).to.deep.equal(['experiments/popularity.yaml', 'orders.csv']);
    return withFiles({ ...FILES, ...files }, async (root) => {
      experimentLedger().write(join(root, 'ledger'));
      experimentLedger(4000, 0.2).write(join(root, 'lossy'));
      exploredLedger(1500).write(join(root, 'explored'));
      earlierLedger().write(join(root, 'earlier'));
      const products = NEWEST.map((newest, at) => ({ product_id: `p${at + 1}`, number: at + 1, newest }));
      mkdirSync(join(root, 'load'));
      writeFileSync(join(root, 'load/products.jsonl'), products.map((one) => JSON.stringify(one)).join('\n'));
      const store = ['--project', root];
      const loaded = await millrace([
        'entities',
        'load',
        'product',
        join(root, 'load/products.jsonl'),
        ...store,
      ]);
      expect(loaded.code, loaded.stderr).to.equal(0);
      const commands = [...page.matchAll(/^```console\n\$ millrace (.*)\n([\s\S]*?)^```$/gm)];
      expect(commands).to.have.length(5);
      let written = page;
      for (const [, line = '', output = ''] of commands) {
        const argv = line
          .split(' ')
          .map((word) =>
            /^(ledger|lossy|explored|earlier)$|\.(json|csv)$/.test(word) ? join(root, word) : word,
          );
        // The first word of a command can be the name of a folder too.
        const [, ...others] = argv;
        const result = await millrace([line.split(' ')[0] ?? '', ...others, ...store]);
        const printed = `${(result.stdout + result.stderr).replaceAll(`${root}/`, '').trimEnd()}\n`;
        if (process.env['UPDATE_GOLDEN'] === '1') written = written.replace(output, () => printed);
        else expect(printed, line).to.equal(output);
      }
      const outcomes = ['--ledger', join(root, 'ledger'), '--outcomes', join(root, 'orders.csv'), '--json'];
      const { stdout } = await millrace(['experiments', 'report', 'popularity', ...outcomes, ...store]);
      expect(JSON.parse(stdout)).to.have.nested.property('feedback.byFile', 3);
      if (written !== page) writeFileSync(PATH, written);
    });
  });
});
