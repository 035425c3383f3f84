import { expect } from 'chai';
import { NEW_KINDS } from '../../../runtime/cli/new/kinds.js';
import { millrace } from '../../support/command-line.js';
import { withFiles } from '../../support/temporary-files.js';

const PRODUCT = 'entity: product\nextends: ProductEntity\nattributes: { name: string, price: float }\n';

describe('millrace new', () => {
  for (const kind of NEW_KINDS.keys())
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
