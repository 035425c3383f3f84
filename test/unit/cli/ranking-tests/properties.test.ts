import { expect } from 'chai';
import { PROPERTIES, type Generated } from '../../../../runtime/cli/ranking-tests/properties/properties.js';
import type {
  Edit,
  Outcome,
  RankedCase,
  StepRef,
} from '../../../../runtime/cli/ranking-tests/run/outcome.js';
import { pluginFiles } from '../../../support/project.js';
import { failuresOf, runIn } from '../../../support/ranking-tests.js';

/** Pipelines that break a property: the property, their components, and plugins. */
const BROKEN: readonly (readonly [
  property: string,
  components: string,
  message: RegExp,
  files?: Record<string, string>,
])[] = [
  [
    'pins_hold',
    '  - use: pin\n    with: { positions: { 1: p1 } }\n  - use: pin\n    as: again\n    with: { positions: { 2: p1 } }',
    /p1 is pinned to 1 by pin \(step 1\) and to 2 by again \(step 2\)/,
  ],
  [
    'never_empty',
    '  - use: filter\n    with: { keep: product.price > 10 }',
    /filters remove all 1 candidates/,
  ],
  [
    'finite_scores',
    '  - use: score\n    with: { value: product.rating }',
    /candidates have no score: unscored=1\/1/,
  ],
  [
    'not_degraded',
    '  - use: broken\n    on_error: skip',
    /the answer is degraded: skipped=broken/,
    pluginFiles('broken', 'rule', "return { apply() { throw new Error('no'); } };"),
  ],
  [
    'order_does_not_depend_on_input_order',
    '  - use: rowwise',
    /with the candidates reversed the score of p\d is \d instead of \d/,
    pluginFiles(
      'rowwise',
      'rule',
      'return { apply: (input, { scores }) => { for (const row of input.rows) scores[row] = row; return { applied: input.rows.length, skipped: 0 }; } };',
    ),
  ],
  [
    'deterministic',
    '  - use: counting',
    /the second time the score of p\d is \d+ instead of \d+/,
    pluginFiles(
      'counting',
      'rule',
      'let count = 0; return { apply: (input, { scores }) => { count++; for (const row of input.rows) scores[row] = count; return { applied: input.rows.length, skipped: 0 }; } };',
    ),
  ],
];

const TEST = (property: string): string => `test: t
pipeline: p
given: { entities: { product: [{ product_id: p1, price: 1 }, { product_id: p2, price: 2 }, { product_id: p3, price: 3 }] } }
request: { candidates: [{ product_id: p1 }] }
always: [${property}]
`;

describe('a property', () => {
  for (const [property, components, message, files = {}] of BROKEN)
    it(`finds a pipeline that breaks it, with the smallest request: ${property}`, async () => {
      const run = await runIn({
        ...files,
        'schemas/entities/product.yaml': 'entity: product\nattributes: { price: float, rating: float }\n',
        'pipelines/p.yaml': `pipeline: p\nrank: product\ncomponents:\n${components}\n`,
        'tests/t.yaml': TEST(property),
      });
      expect(failuresOf(run)['t']?.[0]).to.match(message);
      const details = run.results[0]?.failures[0]?.details ?? [];
      const request = JSON.parse(details[0]?.slice('request: '.length) ?? 'null') as {
        candidates: unknown[];
      };
      expect(request.candidates.length).to.be.within(1, 2);
      expect(details[1]).to.equal('seed: 1');
    });

  it('holds in a sound pipeline, for every property', async () => {
    const run = await runIn(
      {
        'schemas/entities/product.yaml': 'entity: product\nattributes: { price: float }\n',
        'pipelines/p.yaml':
          'pipeline: p\nrank: product\nrequest: { candidates: { boosted: bool }, user: optional(user), n: optional(int), at: optional(timestamp), words: optional(list(string)) }\ncomponents:\n  - use: score\n    with: { value: "coalesce(product.price, 0)" }\n  - use: bury\n    with: { where: product.price > 2 }\n  - use: pin\n    with: { positions: { 2: p1, 40: p2 } }\npage: { size: 2, max_size: 2 }\n',
        'tests/t.yaml': TEST([...PROPERTIES.keys()].join(', ')),
      },
      { runs: 200 },
    );
    expect(failuresOf(run)).to.deep.equal({});
  });

  it('knows that curation wins over pins, and that limits, slots and groups win over bury', async () => {
    const run = await runIn(
      {
        'schemas/entities/product.yaml': 'entity: product\nattributes: { price: float, brand: string }\n',
        'curation/c.yaml':
          'curation: c\nrules:\n  - { pin: { 1: p3, 2: p1 } }\n  - { query: tv, pin: { 3: p2 }, hide: [p1] }\n',
        'pipelines/p.yaml':
          'pipeline: p\nrank: product\nrequest: { query: optional(query) }\ncomponents:\n  - use: score\n    with: { value: "coalesce(product.price, 0)" }\n  - use: pin\n    with: { positions: { 1: p1, 2: p2 } }\n  - { use: curation, with: { list: c } }\n',
        'pipelines/q.yaml':
          'pipeline: q\nrank: product\ncomponents:\n  - use: score\n    with: { value: "coalesce(product.price, 0)" }\n  - use: bury\n    with: { where: product.price > 2 }\n  - use: limit\n    with: { by: product.brand, most: 1, within: 2 }\n',
        'pipelines/r.yaml':
          'pipeline: r\nrank: product\ncomponents:\n  - use: score\n    with: { value: "coalesce(product.price, 0)" }\n  - use: bury\n    with: { where: product.price > 2 }\n  - use: limit\n    with: { by: product.brand, most: 1, within: page }\n  - use: slot\n    with: { positions: [2], where: product.price == 4 }\n  - use: pin\n    with: { positions: { 1: p3 } }\npage: { size: 2, max_size: 2 }\n',
        ...Object.fromEntries(
          ['p', 'q', 'r'].map((name) => [
            `tests/${name}.yaml`,
            `test: ${name}
pipeline: ${name}
given: { entities: { product: [{ product_id: p1, price: 1, brand: a }, { product_id: p2, price: 2, brand: a }, { product_id: p3, price: 3, brand: b }, { product_id: p4, price: 4, brand: a }] } }
request: { candidates: [{ product_id: p1 }, { product_id: p2 }, { product_id: p3 }, { product_id: p4 }]${name === 'p' ? ', query: { query: tv }' : ''} }
always: [pins_hold, buried_stay_last, nothing_lost_or_invented]
`,
          ]),
        ),
      },
      { runs: 200 },
    );
    expect(failuresOf(run)).to.deep.equal({});
    expect(run.results).to.have.length(3);
  });

  it('makes the same requests from the same seed', async () => {
    const [property, components, , files = {}] = BROKEN[4] ?? BROKEN[0] ?? ['', '', /x/];
    const project = {
      ...files,
      'pipelines/p.yaml': `pipeline: p\nrank: product\ncomponents:\n${components}\n`,
      'schemas/entities/product.yaml': 'entity: product\nattributes: { price: float }\n',
      'tests/t.yaml': TEST(property),
    };
    const details = async (seed: number): Promise<unknown> =>
      (await runIn(project, { seed })).results[0]?.failures;
    const text = async (seed: number): Promise<string> =>
      JSON.stringify(await details(seed), (key, value: unknown) => (key === 'at' ? undefined : value));
    expect(await text(5)).to.equal(await text(5));
  });
});

const STEP: StepRef = { number: 3, as: 'rule', use: 'rule', kind: 'rule' };

function candidate(id: string, place: number, edits: readonly Edit[] = []): RankedCase {
  return { id, place, score: 10 - place, rankedScore: 10 - place, edits };
}

function outcomeOf(candidates: readonly RankedCase[], more: Partial<Outcome> = {}): Outcome {
  return {
    page: candidates.map(({ id }) => id),
    candidates: new Map(candidates.map((one) => [one.id, one])),
    steps: [],
    fillsAround: false,
    degraded: [],
    unknownFields: [],
    answered: new Map(),
    values: new Map(),
    ...more,
  };
}

async function problemOf(name: string, outcome: Outcome, second = outcome): Promise<string | undefined> {
  const body = { candidates: [{ product_id: 'a' }, { product_id: 'b' }] };
  const generated: Generated = { body, outcome, maxPage: 10, run: () => Promise.resolve(second) };
  return await PROPERTIES.get(name)?.check(generated);
}

/** What only a fault of the runtime could cause. */
describe('a property, on an answer that is wrong', () => {
  const sound = outcomeOf([candidate('a', 1), candidate('b', 2)]);
  const pin: Edit = { step: STEP, sets: false, kind: 'pin', position: 1, source: 'pipeline' };

  it('holds for a sound answer', async () => {
    const sizes = { ...sound, page: ['a'] };
    expect(await problemOf('nothing_lost_or_invented', sound)).to.equal(undefined);
    expect(await problemOf('pins_hold', outcomeOf([candidate('a', 1, [pin])]))).to.equal(undefined);
    expect(await problemOf('page_is_prefix', sound, sizes)).to.equal(
      'pages of 1 have a at place 2, the whole ranking has b',
    );
  });
  it('finds a pinned candidate at another place', async () => {
    expect(await problemOf('pins_hold', outcomeOf([candidate('b', 1), candidate('a', 2, [pin])]))).to.equal(
      'a is pinned to position 1, but is at 2',
    );
  });
  it('finds two candidates of one pin', async () => {
    expect(
      await problemOf('pins_hold', outcomeOf([candidate('b', 1, [pin]), candidate('a', 2, [pin])])),
    ).to.equal('b and a are both pinned to position 1');
  });
  it('finds a buried candidate above another', async () => {
    const buried = candidate('a', 1, [{ step: STEP, sets: false, kind: 'below' }]);
    expect(await problemOf('buried_stay_last', outcomeOf([buried, candidate('b', 2)]))).to.equal(
      'a is buried and stands at 1, above b at 2',
    );
  });
  it('finds a lost, an invented and a doubled candidate', async () => {
    const removed = [{ step: STEP, outcome: 'ran' as const, seen: 2, removed: ['a'], applied: 0 }];
    expect(
      await problemOf('nothing_lost_or_invented', outcomeOf([candidate('a', 0), candidate('b', 1)])),
    ).to.equal('a is neither ranked nor removed');
    expect(await problemOf('nothing_lost_or_invented', outcomeOf([candidate('c', 1)]))).to.equal(
      'c was not sent',
    );
    expect(await problemOf('nothing_lost_or_invented', { ...sound, steps: removed })).to.equal(
      'a is ranked or removed twice',
    );
    expect(await problemOf('nothing_lost_or_invented', { ...sound, page: ['x'] })).to.equal(
      'x is answered, but not ranked',
    );
  });
  it('finds another order of the same candidates, except for ties', async () => {
    const other = outcomeOf([
      { ...candidate('b', 1), score: 8 },
      { ...candidate('a', 2), score: 9 },
    ]);
    expect(await problemOf('order_does_not_depend_on_input_order', sound, other)).to.equal(
      'with the candidates reversed b is at place 1 instead of a',
    );
    const tied = (first: string, second: string): Outcome =>
      outcomeOf([
        { ...candidate(first, 1), score: 1 },
        { ...candidate(second, 2), score: 1 },
      ]);
    expect(await problemOf('order_does_not_depend_on_input_order', tied('a', 'b'), tied('b', 'a'))).to.equal(
      undefined,
    );
    expect(await problemOf('deterministic', tied('a', 'b'), tied('b', 'a'))).to.equal(
      'the second time a is at 2 instead of 1',
    );
  });
  it('finds an infinite score', async () => {
    expect(await problemOf('finite_scores', outcomeOf([{ ...candidate('a', 1), score: Infinity }]))).to.equal(
      'the score of a is Infinity',
    );
  });
});
