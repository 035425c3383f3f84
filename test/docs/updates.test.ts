import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import { renderDiagnostics } from '../../runtime/project/config/diagnostics/render.js';
import { post } from '../http/harness.js';
import { serveProject } from '../http/serve-project.js';
import { exchangesOf } from '../support/exchanges.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';

describe('docs/updates.md', () => {
  const page = readFileSync(repositoryPath('docs', 'updates.md'), 'utf8');
  const blocks = [...page.matchAll(/^```yaml file=(\S+)\n([\s\S]*?)^```$/gm)];
  const files = Object.fromEntries(blocks.map(([, path = '', text = '']) => [path, text]));

  it('shows exchanges that happen so, one after the other', () => {
    // No stream is there to read from.
    const served = Object.fromEntries(Object.entries(files).filter(([path]) => !path.startsWith('sources/')));
    return withFiles(served, (root) =>
      serveProject(root, async (url) => {
        const exchanges = exchangesOf(page);
        expect(exchanges).to.have.length(7);
        for (const { path, body, answer } of exchanges)
          expect(rounded((await post(url + path, body)).json), `${path} ${body}`).to.deep.equal(answer);
      }),
    );
  });

  it('is a project without errors, with its sources', async () => {
    const before = process.env.STREAM_URL;
    process.env.STREAM_URL = 'redis://127.0.0.1:6379';
    try {
      await withFiles(files, async (root) => {
        const { diagnostics, sources } = await compileProject(root);
        expect(renderDiagnostics(diagnostics, { color: false, width: 1000 })).to.equal('');
        expect(sources).to.have.length(3);
      });
    } finally {
      if (before === undefined) delete process.env.STREAM_URL;
      else process.env.STREAM_URL = before;
    }
  });
});

/** The page shows five digits of a score. */
function rounded(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer), (name, value: unknown) =>
    name === 'ranked_score' ? Number((value as number).toFixed(5)) : value,
  ) as unknown;
}
