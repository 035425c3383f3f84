import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { ADDED_LIMITS } from '../../runtime/state/curation/rule-plan.js';
import { post } from '../http/harness.js';
import { serveProject } from '../http/serve-project.js';
import { millrace } from '../support/command-line.js';
import { exchangesOf } from '../support/exchanges.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';

interface Explained {
  readonly page: readonly {
    readonly candidate_id: string;
    readonly changes: readonly { readonly rules?: readonly string[] }[];
  }[];
}

describe('docs/curation.md', () => {
  const page = readFileSync(repositoryPath('docs', 'curation.md'), 'utf8');
  const blocks = page.matchAll(/^```\w+ file=(\S+)\n([\s\S]*?)^```$/gm);
  const files = Object.fromEntries([...blocks].map(([, path = '', text = '']) => [path, text]));

  it('is a valid project, whose test passes', () =>
    withFiles(files, async (root) => {
      expect(Object.keys(files)).to.have.length(5);
      for (const command of ['validate', 'test']) {
        const { code, stdout, stderr } = await millrace([command, '--project', root]);
        expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
      }
    }));

  it('states the limits of the columns that rules add', () => {
    const { columns, references, ms } = ADDED_LIMITS;
    const cells = [...page.matchAll(/^\| (columns|references|time) .*\| +(.+) \|$/gm)].map(
      ([, , cell]) => cell,
    );
    expect(cells).to.deep.equal([String(columns), String(references), `${ms / 1000} seconds`]);
  });

  it('shows what its requests are answered', () =>
    withFiles(files, (root) =>
      serveProject(root, async (url) => {
        const [preview, ...puts] = exchangesOf(page);
        expect(puts).to.have.length(2);
        const { page: explained } = (await post(url + (preview?.path ?? ''), preview?.body ?? ''))
          .json as unknown as Explained;
        const seen = explained.map(({ candidate_id: id, changes }) => [
          id,
          changes.flatMap(({ rules = [] }) => rules),
        ]);
        expect({ answer: seen }).to.deep.equal(preview?.answer);
        for (const put of puts) {
          const { version, ...answer } = (await post(url + put.path, put.body)).json as Record<
            string,
            unknown
          >;
          expect(version).to.match(/^[0-9a-f]{16}$/);
          expect(answer).to.deep.equal(put.answer);
        }
      }),
    ));

  it('lists every key of a rule', () => {
    const schema = JSON.parse(readFileSync(repositoryPath('schemas/curation.schema.json'), 'utf8')) as {
      properties: { rules: { items: { properties: object } } };
    };
    const keys = Object.keys(schema.properties.rules.items.properties);
    expect(keys.filter((key) => !page.includes(`\n| \`${key}\``))).to.deep.equal([]);
  });
});
