import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { serveFiles, type ServedProject } from '../support/served-project.js';
import { Random } from '../../runtime/ground/core/random.js';
import type { Explanation } from '../../runtime/request/pipeline/explain/explanation.js';
import { RANDOM_PROJECT, randomPipelines, randomRequest } from '../support/random-pipelines.js';

describe('contributions over HTTP', () => {
  let served: ServedProject;
  const random = new Random(7);
  const names = ['one', 'two', 'three'];

  before(async () => {
    served = await serveFiles({ ...RANDOM_PROJECT, ...randomPipelines(names, random) });
  });

  after(() => served.close());

  it('have the form that the OpenAPI document describes', async () => {
    const document = JSON.parse(await served.get('/openapi.json')) as object;
    const ajv = new Ajv2020({ strict: false, ownProperties: true });
    ajv.addSchema(document, 'doc');
    const validate = ajv.compile({ $ref: 'doc#/components/schemas/explanation' });
    for (const name of names) {
      const { json } = await served.post(`/api/v1/${name}/explain?contributions=true`, randomRequest(random));
      expect(validate(json), ajv.errorsText(validate.errors)).to.equal(true);
      expect((json as unknown as Explanation).page.every((one) => one.contributions !== undefined)).to.be
        .true;
    }
  });

  it('of two candidates have that form, too, and need both ids', async () => {
    const document = JSON.parse(await served.get('/openapi.json')) as object;
    const ajv = new Ajv2020({ strict: false, ownProperties: true });
    ajv.addSchema(document, 'doc');
    const validate = ajv.compile({ $ref: 'doc#/components/schemas/explanation' });
    const body = {
      candidates: [
        { product_id: 'a/b', price: 1, rating: 2 },
        { product_id: 'c', price: 3 },
      ],
    };
    for (const name of names) {
      const { json } = await served.post(`/api/v1/${name}/explain?compare=a%2Fb&with=c`, body);
      expect(validate(json), ajv.errorsText(validate.errors)).to.equal(true);
      expect((json as unknown as Explanation).compared?.candidates[0].candidate_id).to.equal('a/b');
    }
    for (const query of ['compare=c', 'with=c', 'compare=c&with=c', 'compare=c&with=x']) {
      const { status, json } = await served.post(`/api/v1/one/explain?${query}`, body);
      expect([query, status]).to.deep.equal([query, 422]);
      const wrong = query.endsWith('with=x')
        ? 'parameter with: the request has no'
        : 'parameters compare and with:';
      expect(json['detail']).to.match(new RegExp(`^the ${wrong} `));
    }
  });

  it('and lifts have that form, and need an id and a place', async () => {
    const document = JSON.parse(await served.get('/openapi.json')) as object;
    const ajv = new Ajv2020({ strict: false, ownProperties: true });
    ajv.addSchema(document, 'doc');
    const validate = ajv.compile({ $ref: 'doc#/components/schemas/explanation' });
    const body = {
      candidates: [1, 2, 3].map((n) => ({ product_id: `p/${n}`, price: n, rating: 4 - n, age: n })),
    };
    for (const name of names)
      for (const { product_id: id } of body.candidates) {
        const path = `/api/v1/${name}/explain?lift=${encodeURIComponent(id)}&to=1`;
        const { json } = await served.post(path, body);
        expect(validate(json), ajv.errorsText(validate.errors)).to.equal(true);
        expect((json as unknown as Explanation).lifts?.candidate_id).to.equal(id);
      }
    for (const query of ['lift=p/1', 'to=1', 'lift=p/1&to=0', 'lift=p/1&to=x', 'lift=x&to=1']) {
      const { status, json } = await served.post(`/api/v1/one/explain?${query}`, body);
      expect([query, status]).to.deep.equal([query, 422]);
      const wrong =
        query === 'lift=x&to=1' ? 'parameter lift: the request has no' : 'parameters lift and to:';
      expect(json['detail']).to.match(new RegExp(`^the ${wrong} `));
    }
  });

  it('are left out unless they are requested by true', async () => {
    for (const query of ['', '?contributions=false', '?at=2026-01-01']) {
      const { json } = await served.post(`/api/v1/one/explain${query}`, randomRequest(random));
      expect((json as unknown as Explanation).page.some((one) => 'contributions' in one)).to.be.false;
    }
    const { status, json } = await served.post('/api/v1/one/explain?contributions=1', randomRequest(random));
    expect([status, json['detail']]).to.deep.equal([
      422,
      'the parameter contributions: expected true or false',
    ]);
  });
});
