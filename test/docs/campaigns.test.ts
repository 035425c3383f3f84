import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { ACT_NAMES } from '../../runtime/project/config/curation/read-acts.js';
import { YAML_KEYS } from '../../runtime/project/config/model/yaml-keys.generated.js';
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

describe('docs/campaigns.md', () => {
  const page = readFileSync(repositoryPath('docs', 'campaigns.md'), 'utf8');
  const blocks = page.matchAll(/^```\w+ file=(\S+)\n([\s\S]*?)^```$/gm);
  const files = Object.fromEntries([...blocks].map(([, path = '', text = '']) => [path, text]));

  it('is a valid project', () =>
    withFiles(files, async (root) => {
      expect(Object.keys(files)).to.have.length(4);
      const { code, stdout, stderr } = await millrace(['validate', '--project', root]);
      expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
    }));

  it('shows what its request is answered', () =>
    withFiles(files, (root) =>
      serveProject(
        root,
        async (url) => {
          const [explained] = exchangesOf(page);
          const { json, status } = await post(url + (explained?.path ?? ''), explained?.body ?? '');
          expect(status, JSON.stringify(json)).to.equal(200);
          const seen = (json as unknown as Explained).page.map(({ candidate_id: id, changes }) => [
            id,
            changes.flatMap(({ rules = [] }) => rules),
          ]);
          expect({ answer: seen }).to.deep.equal(explained?.answer);
        },
        undefined,
        { MILLRACE_IMAGE_HOSTS: 'cdn.shop.example' },
      ),
    ));

  it('lists every key of a campaign, and rules take every act', () => {
    const keys = YAML_KEYS['curation.campaigns.*'];
    expect(keys.filter((key) => !page.includes(`\n| \`${key}\``))).to.deep.equal([]);
    expect(keys).to.include.members([...ACT_NAMES]);
    expect(YAML_KEYS['curation.rules']).to.include.members([...ACT_NAMES]);
  });
});
