import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import { planText } from '../../runtime/cli/commands/plan.js';
import { paramProblem, withParams } from '../../runtime/project/config/project/param-values.js';
import { scoresOf, startProject, writeProject } from '../support/project.js';

const PRODUCT = `entity: product
extends: ProductEntity
attributes: { title: string, price: float, rating: float, variants: { list: { size: int } } }
`;

const pipeline = (params: string, components: string, more = ''): Record<string, string> => ({
  'schemas/entities/product.yaml': PRODUCT,
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, query: optional(query) }
params: ${params}
${more}components:
${components}`,
});

const CANDIDATES = [
  { product_id: 'a', title: 'red shoe', price: 10, rating: 4, variants: [{ size: 40 }, { size: 41 }] },
  { product_id: 'b', title: 'blue shoe shoe', price: 20, rating: 1, variants: [{ size: 42 }] },
  { product_id: 'c', title: 'hat', price: 30, rating: 5, variants: [] },
];

const rank = async (files: Record<string, string>): Promise<Record<string, number>> => {
  const project = await startProject(files);
  try {
    return scoresOf(await project.rank({ query: { query: 'shoe' }, candidates: CANDIDATES }));
  } finally {
    await project.close();
  }
};

const equal = async (named: string, plain: string, params: string, more = ''): Promise<void> => {
  const literals = pipeline('{}', plain, more.replaceAll('w_price', '0.5'));
  expect(await rank(pipeline(params, named, more))).to.deep.equal(await rank(literals));
};

describe('params', () => {
  const places: readonly (readonly [what: string, components: string])[] = [
    ['a score', '  - { use: score, with: { value: w_price * product.price } }\n'],
    [
      'a filter',
      '  - { use: filter, with: { keep: product.price * w_price < 12 } }\n  - { use: score, with: { value: 1 } }\n',
    ],
    [
      'a boost',
      '  - { use: score, with: { value: product.rating } }\n  - { use: boost, with: { where: product.price > 10 * w_price, multiply: w_price } }\n',
    ],
    ['a condition of the request', '  - { use: score, when: w_price < 1, with: { value: product.price } }\n'],
    [
      'a choice after `in`',
      '  - { use: score, with: { value: "if(any(product.variants.size in (40, 84 * w_price)), 1, 0)" } }\n',
    ],
    ['a time', '  - { use: score, with: { value: days(w_price) + product.price } }\n'],
    [
      'the weights of a model',
      '  - { use: linear, with: { weights: { product.price: w_price, product.rating: { weight: w_price, missing: w_price } }, bias: w_price } }\n  - { use: score, with: { value: linear:score } }\n',
    ],
    [
      'the options of a feature',
      '  - { use: text_match, as: title, with: { query: query.query, field: product.title, k1: w_price, b: w_price } }\n  - { use: score, with: { value: title:bm25 } }\n',
    ],
  ];
  for (const [what, components] of places) {
    it(`a param counts as its number in ${what}`, async () => {
      await equal(components, components.replaceAll('w_price', '0.5'), '{ w_price: 0.5 }');
    });
  }

  it('a param counts as its number in a definition, and through another one', async () => {
    await equal(
      '  - { use: score, with: { value: double } }\n',
      '  - { use: score, with: { value: double } }\n',
      '{ w_price: { value: 0.5, min: 0, max: 1 } }',
      'define: { double: 2 * weighted, weighted: w_price * product.price }\n',
    );
  });

  it('an expression of params is computed at load, as one of literals is', async () => {
    const root = await writeProject(
      pipeline('{ a: 2, b: 3 }', '  - { use: score, with: { value: product.price * (a + b * 2) } }\n'),
    );
    const compiled = await compileProject(root);
    await compiled.close();
    await rm(root, { recursive: true, force: true });
    const [step] = compiled.pipelines[0]?.plan.steps ?? [];
    expect(step?.inputs).to.have.length(1);
    expect(compiled.pipelines[0]?.plan.open).to.equal(undefined);
  });

  it('an option that takes a text keeps the text, also if a param has that name', async () => {
    const scores = await rank(
      pipeline(
        '{ absent: 7 }',
        '  - { use: linear, with: { weights: { product.price: 1 }, missing: absent } }\n  - { use: score, with: { value: linear:score + absent } }\n',
      ),
    );
    expect(scores).to.deep.equal({ c: 37, b: 27, a: 17 });
  });

  describe('in the process', () => {
    const FILES = pipeline(
      '{ w: { value: 1, min: 0, max: 3 }, bias: 2 }',
      '  - { use: linear, with: { weights: { product.price: w }, bias: bias } }\n  - { use: score, with: { value: w + linear:score } }\n',
    );
    let root = '';
    before(async () => {
      root = await writeProject(FILES);
    });
    after(async () => {
      await rm(root, { recursive: true, force: true });
    });

    it('values replace those of the file', async () => {
      const params = new Map([['search', new Map([['w', 3]])]]);
      const compiled = await compileProject(root, { params });
      await compiled.close();
      expect(compiled.pipelines[0]?.describe().params).to.deep.equal({
        w: { value: 3, min: 0, max: 3 },
        bias: { value: 2 },
      });
    });

    it('a value that the pipeline does not take is refused, with the nearest name', async () => {
      const compiled = await compileProject(root);
      await compiled.close();
      const [definition] = compiled.config?.pipelines ?? [];
      if (definition === undefined) throw new Error('expected a pipeline');
      expect(paramProblem(definition, 'w', 3)).to.equal(undefined);
      expect(paramProblem(definition, 'w', 3.1)?.message).to.equal('`w`: must be from 0 to 3, found 3.1');
      expect(paramProblem(definition, 'bais', 1)).to.deep.equal({
        message: 'the pipeline `search` has no param `bais`',
        help: 'did you mean `bias`?',
      });
      expect(paramProblem(definition, 'bias', NaN)?.message).to.equal(
        '`bias`: must be a finite number, found NaN',
      );
      expect(() => withParams(definition, new Map([['w', -1]]))).to.throw(RangeError);
      expect(withParams(definition, new Map([['bias', -1]])).params.get('bias')?.value).to.equal(-1);
      expect(definition.params.get('bias')?.value).to.equal(2);
    });

    it('the plan lists the params, and each step that reads them', async () => {
      const compiled = await compileProject(root);
      await compiled.close();
      const described = compiled.pipelines[0]?.describe();
      expect(described?.components.map(({ reads }) => reads)).to.deep.equal([
        ['w', 'bias', 'product.price'],
        ['w', 'linear:score'],
      ]);
      if (described === undefined) throw new Error('expected a plan');
      expect(planText(described, 80)).to.contain(
        [
          'Params',
          '',
          'name  value  range',
          '────  ─────  ──────',
          'w         1  0 to 3',
          'bias      2',
          '',
        ].join('\n'),
      );
    });

    it('an explanation contains the values', async () => {
      const project = await startProject(FILES);
      try {
        const explained = await project.app.pipelines[0]?.explain(
          { candidates: CANDIDATES },
          { requestId: 'r' },
        );
        expect(explained?.params).to.deep.equal({ w: 1, bias: 2 });
      } finally {
        await project.close();
      }
    });
  });
});
