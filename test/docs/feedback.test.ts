import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { post } from '../http/harness.js';
import { serveProject } from '../http/serve-project.js';
import { exchangesOf } from '../support/exchanges.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';

describe('docs/feedback.md', () => {
  const page = readFileSync(repositoryPath('docs', 'feedback.md'), 'utf8');

  it('is a valid project, and its requests give the documented answers in this order', () => {
    const blocks = page.matchAll(/^```yaml file=(\S+)\n([\s\S]*?)^```$/gm);
    const files = Object.fromEntries([...blocks].map(([, path = '', text = '']) => [path, text]));
    expect(Object.keys(files)).to.have.length(4);
    return withFiles(files, (root) =>
      serveProject(root, async (url) => {
        const exchanges = exchangesOf(page);
        expect(exchanges).to.have.length(6);
        for (const { path, body, answer } of exchanges)
          expect((await post(url + path, body)).json, `${path} ${body}`).to.deep.equal(answer);
      }),
    );
  });
});
