import { expect } from 'chai';
import { explanationText } from '../../runtime/cli/report/explanation-text.js';
import { Random } from '../../runtime/ground/core/random.js';
import type {
  ExplainedLifts,
  ExplainedValue,
  Explanation,
} from '../../runtime/request/pipeline/explain/explanation.js';
import { draws } from '../support/draws.js';
import { startProject, type TestProject } from '../support/project.js';
import { RANDOM_PROJECT, randomPipelines, randomRequest } from '../support/random-pipelines.js';

/** What lifts a candidate to a place: `<route>/explain?lift=p17&to=3`. */

type Candidate = Readonly<Record<string, unknown>> & { readonly product_id: string };

describe('lifts', () => {
  let project: TestProject;
  const explain = (
    name: string,
    body: object,
    lift?: { readonly id: string; readonly to: number },
  ): Promise<Explanation> => {
    const pipeline = project.app.pipelines.find((one) => one.name === name);
    if (pipeline === undefined) throw new Error(`the project has no pipeline ${name}`);
    return pipeline.explain(body, { requestId: 'r', runId: 'run', ...(lift && { lift }) });
  };
  const liftsOf = async (name: string, body: object, id: string, to: number): Promise<ExplainedLifts> =>
    (await explain(name, body, { id, to })).lifts ?? expect.fail('none');
  /** The place of a candidate whose attribute has another value. */
  const placeWith = async (
    name: string,
    body: { readonly candidates: readonly Candidate[] },
    id: string,
    attribute: string,
    value: number,
  ): Promise<number | undefined> => {
    const candidates = body.candidates.map((one) =>
      one.product_id === id ? { ...one, [attribute]: value } : one,
    );
    const { page } = await explain(name, { ...body, candidates });
    return page.find(({ candidate_id: other }) => other === id)?.place;
  };

  afterEach(() => project.close());

  it('name the smallest change of each value that lifts a candidate, in percentiles', async () => {
    const pipeline = `pipeline: ranking
rank: product
components:
  - { use: score, with: { value: product.price + 10 * product.rating } }
page: { size: 9 }
`;
    project = await startProject({ ...RANDOM_PROJECT, 'pipelines/ranking.yaml': pipeline });
    const candidates = [
      { product_id: 'a', price: 100, rating: 1 },
      { product_id: 'b', price: 50, rating: 3, age: 4 },
      { product_id: 'c', price: 40, rating: 1, age: 5 },
      { product_id: 'd', price: 10, rating: 2, age: 6 },
    ];
    const lift = { id: 'd', to: 2 };
    const told = await explain('ranking', { candidates }, lift);
    expect(told.lifts).to.deep.equal({
      candidate_id: 'd',
      to: 2,
      place: 4,
      tried: 5,
      lifts: [
        {
          name: 'product.price',
          value: 10,
          percentile: 12.5,
          new_value: 100,
          new_percentile: 87.5,
          place: 1,
        },
      ],
    });
    expect(explanationText(told, 80)).to.contain(`
d, at place 4: what lifts it to place 2 (5 changes tried; each of these alone)
  product.price: 10 → 100 (percentile 13 → 88): place 1
`);
    expect(await liftsOf('ranking', { candidates }, 'a', 3)).to.deep.include({
      tried: 0,
      lifts: [],
      reason: 'it is at place 1',
    });
    const failure = await liftsOf('ranking', { candidates }, 'x', 1).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'invalid_body');
  });

  it('say that no change does it, and offer no private value', async () => {
    const pipeline = `pipeline: ranking
rank: product
components:
  - { use: score, with: { value: "product.cost + min(product.price, 1)" } }
page: { size: 9 }
`;
    project = await startProject({
      ...RANDOM_PROJECT,
      'schemas/entities/product.yaml':
        'entity: product\nextends: ProductEntity\nattributes: { price: float, cost: { type: float, private: true } }\n',
      'pipelines/ranking.yaml': pipeline,
    });
    const candidates = [
      { product_id: 'a', price: 4, cost: 9 },
      { product_id: 'b', price: 3, cost: 1 },
    ];
    const told = await explain('ranking', { candidates }, { id: 'b', to: 1 });
    expect(told.lifts).to.deep.include({ place: 2, tried: 1, lifts: [] });
    expect(explanationText(told, 80)).to.contain(
      'b, at place 2: what lifts it to place 1: none of 1 change\n',
    );
  });

  it(`lift as they say in ${draws(60)} random pipelines, and no smaller value that is tried does`, async () => {
    const random = new Random(3);
    const names = Array.from({ length: draws(60) }, (_, i) => `r${i}`);
    const files = randomPipelines(names, random);
    project = await startProject({ ...RANDOM_PROJECT, ...files });
    let [lifted, none] = [0, 0];
    for (const name of names) {
      const body = randomRequest(random);
      const { page } = await explain(name, body);
      const last = page.at(-1);
      if (last === undefined || last.place === 1) continue;
      const { candidate_id: id, place } = last;
      const to = 1 + random.between(0, place - 2);
      const { lifts } = await liftsOf(name, body, id, to);
      if (lifts.length === 0) none++;
      const told = (): string => [JSON.stringify(body), files[`pipelines/${name}.yaml`], id, to].join('\n');
      for (const one of lifts) {
        const attribute = one.name.replace('product.', '');
        expect(await placeWith(name, body, id, attribute, one.new_value), told()).to.equal(one.place);
        expect(one.place, told()).to.be.at.most(to);
        lifted++;
      }
      // Steps with `top:` look at the other candidates, so the search is a guess there.
      if (files[`pipelines/${name}.yaml`]?.includes('top:') === true) continue;
      for (const attribute of ['price', 'rating', 'age']) {
        const numberOf = (values: Readonly<Record<string, ExplainedValue>>): number =>
          Number(values[`product.${attribute}`]?.value ?? NaN);
        const own = numberOf(last.values);
        const found = lifts.find((one) => one.name === `product.${attribute}`);
        const sent = body.candidates.map((one) => Number((one as Candidate)[attribute] ?? NaN));
        const known = sent.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
        const percentileOf = (value: number): number =>
          (50 * (known.indexOf(value) + known.lastIndexOf(value) + 1)) / known.length;
        const size = found === undefined ? Infinity : Math.abs(found.new_percentile - found.percentile);
        for (const value of Number.isNaN(own) ? [] : new Set(known)) {
          if (value === own || Math.abs(percentileOf(value) - percentileOf(own)) >= size) continue;
          const smaller = (await placeWith(name, body, id, attribute, value)) ?? Infinity;
          expect(smaller, `${told()}\n${attribute} ${value}`).to.be.greaterThan(to);
        }
      }
    }
    expect(lifted).to.be.greaterThan(names.length / 10);
    expect(none).to.be.greaterThan(0);
  });
});
