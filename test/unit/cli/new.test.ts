import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { NEW_KINDS } from '../../../runtime/cli/new/kinds.js';
import { millrace } from '../../support/command-line.js';
import { repositoryPath } from '../../support/repository.js';
import { withFiles } from '../../support/temporary-files.js';

const PRODUCT = 'entity: product\nextends: ProductEntity\nattributes: { name: string, price: float }\n';

describe('millrace new', () => {
  for (const kind of Object.keys(NEW_KINDS))
    it(`writes a ${kind} that is valid at once, in a project and in an empty folder`, async () => {
      for (const files of [
        {
          'schemas/entities/product.yaml': PRODUCT,
          'pipelines/search.yaml':
            'pipeline: search\nrank: product\nrequest: { candidates: {}, user: optional(user) }\ncomponents:\n  - { use: score, with: { value: 1 } }\n',
        },
        {
          'pipelines/other.yaml':
            'pipeline: other\nrank: product\nrequest: { candidates: {}, user: optional(user) }\ncomponents:\n  - { use: score, with: { value: 1 } }\n',
        },
      ])
        await withFiles(files, async (root) => {
          const made = await millrace(['new', kind, 'first_one', '--project', root]);
          expect(made.code, made.stderr).to.equal(0);
          expect(made.stdout).to.match(/^wrote .*first_one.yaml\n$/);
          const valid = await millrace(['validate', '--project', root]);
          expect(valid.stdout + valid.stderr).to.match(/^ok: /m);
          expect(valid.stdout + valid.stderr).not.to.contain('warning');
          const again = await millrace(['new', kind, 'first_one', '--project', root]);
          expect(again.code).to.equal(1);
          expect(again.stderr).to.contain('exists already; nothing is written');
        });
    });

  const taken: readonly (readonly [kind: string, name: string, message: RegExp])[] = [
    ['entity', 'vector', /`vector` is already a type of values/],
    ['entity', 'request', /^$/],
    ['pipeline', 'entities', /the service itself uses the route \/api\/v1\/entities/],
    ['view', 'live', /`live`|live/],
    ['counter', 'stats', /stats/],
    ['curation', 'campaigns', /campaigns/],
    ['pipeline', 'search', /exists already/],
    ['entity', 'product', /exists already/],
    ['test', 'sold_out', /exists already/],
    ['experiment', 'popularity', /exists already/],
  ];
  for (const [kind, name, message] of taken)
    it(`writes nothing invalid: ${kind} ${name}`, async () => {
      const files = {
        'schemas/entities/product.yaml': PRODUCT,
        'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures: { ctr: float }\n',
        'schemas/counters/live.yaml':
          'counter: live\nof: [product]\nfeatures: { clicks: { event: click, window: 7d } }\n',
        'curation/campaigns.csv': 'query,match,action,target\n',
        'tests/sold_out.yaml': 'test: sold_out\npipeline: search\nrequest: { candidates: [] }\n',
        'experiments/popularity.yaml': 'experiment: popularity\n',
        'pipelines/search.yaml':
          'pipeline: search\nrank: product\nrequest: { candidates: {}, user: optional(user) }\ncomponents:\n  - { use: score, with: { value: 1 } }\n',
      };
      await withFiles(files, async (root) => {
        const before = await readdir(root, { recursive: true });
        const made = await millrace(['new', kind, name, '--project', root]);
        expect(made.stderr).to.match(message);
        if (made.code === 0) return;
        expect(made).to.include({ code: 1, stdout: '' });
        expect(made.stderr).to.contain('nothing is written').and.contain('help: ');
        expect(await readdir(root, { recursive: true })).to.have.members(before);
      });
    });

  for (const name of readdirSync(repositoryPath('plugins')))
    it(`refuses the name of a plugin that ships: ${name}`, async () => {
      await withFiles({}, async (root) => {
        const made = await millrace(['new', 'plugin', name, '--dir', join(root, 'own')]);
        expect(made).to.include({ code: 1, stdout: '' });
        expect(made.stderr)
          .to.contain(`Millrace ships a plugin called \`${name}\``)
          .and.contain('help: choose another name');
        expect(await readdir(root)).to.deep.equal([]);
      });
    });

  it('refuses unknown kinds and names that are none', async () => {
    const kind = await millrace(['new', 'pipelin', 'x']);
    expect(kind).to.include({
      code: 2,
      stderr: "error: unknown command 'pipelin'\n(Did you mean pipeline?)\nhelp: millrace new --help\n",
    });
    const name = await millrace(['new', 'view', 'My View']);
    expect(name).to.include({
      code: 2,
      stderr:
        'error: My View is no name; a name has lowercase letters, digits and _, and starts with a letter; for example my_view\n',
    });
    await withFiles({}, async (root) => {
      const test = await millrace(['new', 'test', 'one', '--project', root]);
      expect(test.stderr).to.equal(
        'error: the project has no pipeline to test\nhelp: make one: millrace new pipeline search\n',
      );
    });
  });
});
