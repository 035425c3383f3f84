import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { exchangesOf } from '../support/exchanges.js';
import { repositoryPath } from '../support/repository.js';
import { call, post } from './harness.js';
import { serveShippedProject } from './serve-project.js';

describe('docs/http.md', () => {
  const page = readFileSync(repositoryPath('docs', 'http.md'), 'utf8');

  it('shows exchanges that happen so, one after the other', () =>
    serveShippedProject(async (url) => {
      const exchanges = exchangesOf(page);
      expect(exchanges).to.have.length.above(5);
      for (const { method, path, body, answer } of exchanges) {
        expect(method).to.equal('POST');
        const { json } = await post(url + path, body);
        expect(alike(json), `${path} ${body}`).to.deep.equal(alike(answer));
      }
    }));

  it('lists every route of the reference, and no other', () =>
    serveShippedProject(async (url) => {
      const { json } = await call(`${url}/openapi.json`);
      const { paths } = json as { paths: Record<string, Record<string, unknown>> };
      for (const [path, methods] of Object.entries(paths)) {
        if (/"(rank|explain)_/.test(JSON.stringify(methods))) continue; // "the route of each pipeline"
        expect(page, path).to.contain(path);
      }
      for (const [, path = ''] of page.matchAll(/(?:GET|POST) (\/[\w/.{}-]+)/g)) {
        // What the parameters of a path name need not be there.
        if (path.includes('{')) expect(paths).to.have.property(path);
        else expect((await call(url + path)).status, path).not.to.equal(404);
      }
    }));
});

/** The answer without what the page leaves open: how high scores are, and sentences. */
function alike(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer), (name, value: unknown) =>
    name === 'ranked_score' || name === 'detail' ? typeof value : value,
  ) as unknown;
}
