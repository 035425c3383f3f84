import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { call, post, start, type Running } from './harness.js';

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly requestBody?: { readonly content: Record<string, Media> };
  readonly responses: Record<
    string,
    { readonly description: string; readonly content?: Record<string, Media> }
  >;
}

interface Media {
  readonly schema: Json;
  readonly example?: unknown;
  readonly examples?: Record<string, Example | { readonly $ref: string }>;
}

interface Example {
  readonly value: unknown;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: {
    readonly schemas: Record<string, { readonly examples?: readonly unknown[] }>;
  };
}

describe('the OpenAPI document', () => {
  let app: Running;
  let document: Document;
  let operations: { readonly path: string; readonly method: string; readonly operation: Operation }[];
  before(async () => {
    app = await start({ pipelines: [{}, { name: 'orders', route: '/api/v2/orders' }] });
    document = (await call(`${app.url}/openapi.json`)).json as unknown as Document;
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
  });
  after(() => app.close());

  it('says what it is', () => {
    expect(document.openapi).to.match(/^3\.1\.\d$/);
    expect(document.info).to.include({ title: 'Millrace', version: '1.2.3' });
  });

  it('has an operation for each pipeline, with an id made of its name', () => {
    expect(document.paths['/api/v1/ranking']?.post?.operationId).to.equal('rank_ranking');
    expect(document.paths['/api/v2/orders']?.post?.operationId).to.equal('rank_orders');
  });

  it('gives each operation an id of its own, a known tag, a summary and answers', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    const tags = document.tags.map(({ name }) => name);
    for (const { operation } of operations) {
      expect(operation.operationId).to.match(/^[a-z][a-z0-9_]*$/);
      expect(operation.tags).to.have.length(1);
      expect(tags).to.include(operation.tags[0]);
      expect(operation.summary).not.to.equal('');
      expect(operation.responses).to.have.property('200');
      for (const { description } of Object.values(operation.responses)) expect(description).not.to.equal('');
    }
  });

  it('describes routes that exist, and all that take a body', async () => {
    for (const { path, method, operation } of operations) {
      const answer = method === 'post' ? await post(app.url + path, {}) : await call(app.url + path);
      // What the parameters of a path name need not be there.
      if (path.includes('{')) expect(answer.json?.code, path).not.to.equal('unknown_route');
      // This service runs no comparisons.
      else if (/^\/api\/v1\/(?:comparisons|rankings)/.test(path))
        expect(answer.json?.code, path).to.equal('comparisons_elsewhere');
      else expect(answer.status, `${method} ${path}`).to.equal(200);
      expect(operation.requestBody !== undefined, path).to.equal(method === 'post');
    }
  });

  it('refers only to what it holds', () => {
    let found = 0;
    for (const reference of references(document)) {
      expect(resolve(document, reference), reference).to.be.an('object');
      found++;
    }
    expect(found).to.be.above(20);
  });

  it('has valid JSON Schemas, and examples that fit them', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, ownProperties: true });
    ajv.addSchema(document, 'doc');
    let examples = 0;
    for (const { pointer, media } of mediaOf(document)) {
      const validate: ValidateFunction = ajv.compile({ $ref: `doc#${pointer}/schema` });
      const values = examplesOf(document, media).map(({ value }) => value);
      for (const value of media.example === undefined ? values : [...values, media.example]) {
        expect(validate(value), `${pointer}: ${ajv.errorsText(validate.errors)}`).to.equal(true);
        examples++;
      }
    }
    expect(examples).to.be.above(30);
    const { explanation } = document.components.schemas;
    const validate = ajv.compile({ $ref: 'doc#/components/schemas/explanation' });
    expect(explanation?.examples).to.have.length(1);
    expect(validate(explanation?.examples?.[0]), ajv.errorsText(validate.errors)).to.equal(true);
  });

  it('gives an example of each entity type and view, with every attribute that is short enough', () => {
    const upload = examplesAt(document, '/api/v1/entities/upload');
    expect(Object.keys(upload)).to.deep.equal(['product', 'brand', 'query']);
    expect(upload.product).to.deep.equal({
      entity_type: 'product',
      entities: [
        {
          product_id: 'product-1',
          title: 'some text',
          price: 4.5,
          number_in_stock: 12,
          on_sale: true,
          added: 1_767_225_600_000,
          brand: 'brand-1',
          categories: ['some text'],
          related: ['product-1'],
          size: [0.5, 0.5, 0.5],
          seller: { name: 'some text' },
          constructor: 'some text',
        },
      ],
    });
    expect(examplesAt(document, '/api/v1/features/push').product_stats).to.deep.equal({
      view: 'product_stats',
      rows: [{ product_id: 'product-1', ctr_7d: 4.5, event_time: 1_767_225_600_000 }],
    });
  });

  it('gives a ranking that names different candidates', () => {
    expect(examplesAt(document, '/api/v1/ranking').request).to.deep.equal({
      candidates: [{ product_id: 'product-1' }, { product_id: 'product-2' }],
      query: { query: 'some query' },
      user: { user_id: 'user-1' },
      user_page: 0,
      user_page_size: 24,
    });
  });

  it('takes the example that a pipeline gives itself', async () => {
    const example = { candidates: [{ product_id: 'p42' }] };
    const other = await start({ pipelines: [{ requestSchema: { type: 'object', examples: [example] } }] });
    try {
      const its = (await call(`${other.url}/openapi.json`)).json as unknown as Document;
      expect(examplesAt(its, '/api/v1/ranking').request).to.deep.equal(example);
    } finally {
      await other.close();
    }
  });

  it('holds for a project without types and views too', async () => {
    const bare = await start({ entityTypes: new Map(), views: new Map(), pipelines: [] });
    try {
      const its = (await call(`${bare.url}/openapi.json`)).json as unknown as Document;
      for (const reference of references(its)) expect(resolve(its, reference), reference).to.be.an('object');
      const ajv = new Ajv2020({ strict: false, ownProperties: true });
      ajv.addSchema(its, 'doc');
      for (const { pointer } of mediaOf(its)) ajv.compile({ $ref: `doc#${pointer}/schema` });
    } finally {
      await bare.close();
    }
  });
});

function examplesAt(document: Document, path: string): Record<string, unknown> {
  const examples = document.paths[path]?.post?.requestBody?.content['application/json']?.examples ?? {};
  return Object.fromEntries(
    Object.entries(examples).map(([name, example]) => [name, exampleAt(document, example).value]),
  );
}

const examplesOf = (document: Document, { examples = {} }: Media): Example[] =>
  Object.values(examples).map((example) => exampleAt(document, example));

function exampleAt(document: Document, example: Example | { readonly $ref: string }): Example {
  return '$ref' in example ? (resolve(document, example.$ref) as Example) : example;
}

function* references(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (name === '$ref' && typeof member === 'string') yield member;
    else yield* references(member);
  }
}

function resolve(document: unknown, reference: string): unknown {
  const [start = '', ...steps] = reference.split('/');
  expect(start, reference).to.equal('#');
  return steps.reduce<unknown>((value, step) => (value as Json | undefined)?.[step], document);
}

/** Every media type object of the document, with its JSON pointer. */
function* mediaOf(value: unknown, pointer = ''): Generator<{ pointer: string; media: Media }> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (pointer.endsWith('/content')) yield { pointer: encodeURI(at), media: member as Media };
    else yield* mediaOf(member, at);
  }
}
