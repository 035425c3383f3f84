import { expect } from 'chai';
import { BASE } from '../mistakes/base-project.js';
import { withFiles } from '../support/temporary-files.js';
import { serveProject } from './serve-project.js';

/** Fields that nothing declares are ignored; `Millrace-Unknown-Fields` names those that are nearly declared ones. */
describe('a field of a request that nothing declares', () => {
  const cases: readonly (readonly [what: string, body: object, header: string | null])[] = [
    ['is named if it is nearly one of the body', { usr: { user_id: 'u1' } }, 'usr;near=user'],
    [
      'is named if it means one of the body',
      { customer: { user_id: 'u1' }, page: 2 },
      'customer;near=user, page;near=user_page',
    ],
    [
      'is named if it is nearly one of an entity',
      { user: { user_id: 'u1' }, query: { query: 'tv', quer: '' } },
      'query.quer;near=query.query',
    ],
    [
      'is named once if it is nearly one of candidates',
      { candidates: [1, 2].map((id) => ({ product_id: `p${id}`, titel: 'tv' })) },
      'candidates.titel;near=candidates.title',
    ],
    ['is not named if it is near none', { tenant: 'eu', debug: { level: 3 } }, null],
    ['is not named if a header cannot have it', { 'usér\r\nX-Evil: 1': 1, 'u ser': 2 }, null],
    ['is not there', { user: { user_id: 'u1' } }, null],
  ];

  it('is ignored, and named in a header', () =>
    withFiles(BASE, (root) =>
      serveProject(root, async (url) => {
        for (const [what, body, header] of cases) {
          const response = await fetch(`${url}/api/v1/search`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ candidates: [{ product_id: 'p1' }], ...body }),
          });
          expect(response.status, what).to.equal(200);
          expect(response.headers.get('Millrace-Unknown-Fields'), what).to.equal(header);
        }
      }),
    ));
});
