import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { exchangesOf } from '../support/exchanges.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';
import { post } from './harness.js';
import { serveProject } from './serve-project.js';

describe('docs/from-feast.md', () => {
  const page = readFileSync(repositoryPath('docs', 'from-feast.md'), 'utf8');

  it('shows a view and exchanges that happen so, one after the other', () => {
    const [, view = ''] = /```yaml\n# schemas\/features\/driver_stats.yaml\n([\s\S]*?)```/.exec(page) ?? [];
    const files = {
      'schemas/entities/driver.yaml': 'entity: driver\n',
      'schemas/features/driver_stats.yaml': view,
    };
    return withFiles(files, (root) =>
      serveProject(root, async (url) => {
        const exchanges = exchangesOf(page);
        expect(exchanges).to.have.length(2);
        for (const { path, body, answer } of exchanges)
          expect((await post(url + path, body)).json, path).to.deep.equal(answer);
      }),
    );
  });
});
