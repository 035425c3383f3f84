import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAY, HOUR, MadeLedger, START } from '../support/made-ledger.js';
import { millrace } from '../support/command-line.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';

const page = readFileSync(repositoryPath('docs', 'datasets.md'), 'utf8');

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { title: string, price: float }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request:
  query: query
components:
  - use: text_match
    as: title
    with: { query: query.query, field: product.title }
  - use: linear
    as: relevance
    with: { weights: { "title:overlap": 1, product.price: 0.01 } }
`,
  'products.jsonl': ['Desk lamp', 'Lamp shade', 'Kettle']
    .map((title, at) => JSON.stringify({ product_id: `p${at + 1}`, title, price: at + 1 }))
    .join('\n'),
  'judgments.csv': ['lamp', 'kettle', 'desk', 'shade', 'desk lamp', 'lamp shade', 'red lamp', 'tea kettle']
    .map((query, at) => `${query},p1,${at % 3}\n${query},p2,${(at + 1) % 4}\n${query},p3,\n`)
    .reduce((text, rows) => text + rows, 'query,product_id,grade\n'),
};

/** Ten days with twenty requests each. */
function madeLedger(folder: string): void {
  const ledger = new MadeLedger();
  const types = { candidate: { 'product.price': 'float64', 'title:overlap': 'float64' } } as const;
  for (let at = 0; at < 200; at++) {
    const time = START + (at * DAY) / 20;
    const [request, user] = [`r${at}`, `u${at % 30}`];
    const candidates = ['p1', 'p2', 'p3'].map((id, place) => ({
      id,
      values: { 'product.price': place + 1, 'title:overlap': at % 4 === place ? undefined : 0.5 },
    }));
    ledger.ranking({ request, time, entities: [`user=${user}`], candidates }, types);
    if (at % 4 === 0) ledger.feedback({ event: 'click', request, subject: 'p2', user, time: time + 1000 });
    if (at % 12 === 0) ledger.feedback({ event: 'order', subject: 'p2', user, time: time + HOUR });
    if (at % 20 === 0)
      ledger.feedback({ event: 'click', request, subject: 'p3', user, time: time + 2 * DAY + 1 });
    if (at % 25 === 0) ledger.feedback({ event: 'order', subject: 'p3', user, time: time + HOUR });
  }
  ledger.write(folder);
}

describe('docs/datasets.md', () => {
  it('shows commands with what they print', function () {
    this.timeout(60_000);
    return withFiles(FILES, async (root) => {
      madeLedger(join(root, 'ledger'));
      const store = ['--project', root, '--store', 'embedded'];
      await millrace(['entities', 'load', 'product', join(root, 'products.jsonl'), ...store]);
      const commands = [...page.matchAll(/^```console\n\$ millrace (.*)\n([\s\S]*?)^```$/gm)];
      expect(commands).to.have.length(2);
      for (const [, line = '', output] of commands) {
        const words = line
          .split(' ')
          .map((word) => (/^(?:ledger|data|judged|judgments\.csv)$/.test(word) ? join(root, word) : word));
        const { stdout, stderr } = await millrace([...words, ...store]);
        expect((stderr + stdout).replaceAll(`${root}/`, ''), line).to.equal(output);
      }
    });
  });

  it('shows SQL that the command prints', async () => {
    const { stdout, code } = await millrace(
      'dataset build search --ledger compacted --out data --sql duckdb --label click=1,order=3 --attribute order=last_click:7d'.split(
        ' ',
      ),
    );
    expect(code).to.equal(0);
    expect(stdout).to.contain("FROM read_parquet('compacted/rankings/**/*.parquet'");
    expect(stdout).to.contain("TO 'data/train.parquet' (FORMAT parquet);");
    expect(existsSync('data'), 'nothing is written').to.equal(false);
  });
});
