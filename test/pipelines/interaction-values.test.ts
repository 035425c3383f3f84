import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { ProjectInvalidError } from '../../runtime/serve/app/project/compile-project.js';
import { renderDiagnostics } from '../../runtime/project/config/diagnostics/render.js';
import { repositoryPath } from '../support/repository.js';
import { scoresOf, startProject, type TestProject } from '../support/project.js';

const HOUR = 3_600_000;

const TYPES = {
  'millrace.yaml':
    'events: { impression: {}, click: {}, search: { words: string }, order: { revenue: float, coupon: string } }\n',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: string, tags: list(string) }\n',
  'schemas/entities/shop.yaml': 'entity: shop\n',
  'schemas/entities/user.yaml': 'entity: user\n',
};

const files = (options: string, value = 'coalesce(history:x, -1)'): Record<string, string> => ({
  ...TYPES,
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { user: optional(user) }
components:
  - use: interaction
    as: history
    with: ${options}
  - use: score
    with: { value: "${value}" }
`,
});

const step = (output: string, more = 'with: product.brand'): string =>
  `{ of: user, ${more}, outputs: { x: ${output} } }`;

describe('the values of events in the interaction plugin', () => {
  let project: TestProject | undefined;
  let now = 0;

  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  async function scoresAfter(
    options: string,
    events: readonly object[],
    later = 0,
  ): Promise<Record<string, number>> {
    now = Date.now();
    project = await startProject(files(options), { now: () => now });
    await project.upload(
      'product',
      { product_id: 'a', brand: 'lumen', tags: ['x', 'y'] },
      { product_id: 'b', brand: 'halcyon', tags: ['y'] },
    );
    await project.app.feedback.record({ request_id: 'r', user: { user_id: 'u' }, events });
    now += later;
    const candidates = ['a', 'b'].map((product_id) => ({ product_id }));
    return scoresOf(await project.rank({ candidates, user: { user_id: 'u' } }));
  }

  let id = 0;
  const did = (type: string, product_id: string, age: number, more: object = {}): object => ({
    ...{ type, event_id: `e${id++}`, product: { product_id }, time: Date.now() - age * HOUR, ...more },
  });

  it('are summed, by the attribute of the candidates', async () => {
    const orders = [
      did('order', 'a', 1, { revenue: 2.5 }),
      did('order', 'a', 2, { revenue: -1 }),
      did('order', 'a', 3),
      did('order', 'a', 50, { revenue: 100 }),
      did('order', 'b', 1, { revenue: 7 }),
    ];
    const options = step('{ event: order, window: 2d, value: sum(revenue) }');
    expect(await scoresAfter(options, orders)).to.deep.equal({ a: 1.5, b: 7 });
  });

  it('are the last one, of the newest event that has one', async () => {
    const orders = [
      did('order', 'a', 5, { revenue: 4 }),
      did('order', 'a', 3, { revenue: 9 }),
      did('order', 'a', 1),
    ];
    const options = step('{ event: order, window: 2d, value: last(revenue) }');
    expect(await scoresAfter(options, orders)).to.deep.equal({ a: 9, b: -1 });
  });

  it('are counted if they are different, also texts', async () => {
    const orders = ['ten', 'ten', 'five'].map((coupon, i) => did('order', 'a', 1 + i, { coupon }));
    const options = step('{ event: order, window: 2d, value: distinct(coupon) }');
    expect(await scoresAfter(options, orders)).to.deep.equal({ a: 2, b: 0 });
  });

  it('may be the position', async () => {
    const clicks = [did('click', 'a', 2, { position: 3 }), did('click', 'a', 1, { position: 8 })];
    const sum = step('{ event: click, window: 2d, value: sum(position) }');
    expect(await scoresAfter(sum, clicks)).to.deep.equal({ a: 11, b: 0 });
    await project?.close();
    const last = step('{ event: click, window: 2d, value: last(position) }');
    expect(await scoresAfter(last, clicks)).to.deep.equal({ a: 8, b: -1 });
  });

  it('count all events of the user without `with`, also those about other entities', async () => {
    const events = [
      did('click', 'a', 1),
      did('click', 'gone', 2),
      { type: 'click', event_id: 's', shop: { shop_id: 's1' }, time: Date.now() - HOUR },
      did('order', 'a', 1, { revenue: 5 }),
    ];
    expect(
      await scoresAfter('{ of: user, outputs: { x: { event: click, window: 2d } } }', events),
    ).to.deep.equal({ a: 3, b: 3 });
    await project?.close();
    const options =
      '{ of: user, outputs: { x: { event: [click, order], window: 2d, value: sum(revenue) } } }';
    expect(await scoresAfter(options, events)).to.deep.equal({ a: 5, b: 5 });
    await project?.close();
    const age = '{ of: user, outputs: { x: { event: click, window: 90m, value: has } } }';
    expect(await scoresAfter(age.replace('has', 'count'), events, HOUR)).to.deep.equal({ a: 0, b: 0 });
  });

  it('add up over the values of a list, each once', async () => {
    const clicks = [did('click', 'a', 1), did('click', 'b', 1), did('click', 'b', 2)];
    const options = (lists: string): string =>
      step('{ event: click, window: 2d }', `with: product.tags, lists: ${lists}`);
    expect(await scoresAfter(options('max'), clicks)).to.deep.equal({ a: 3, b: 3 });
    await project?.close();
    expect(await scoresAfter(options('sum'), clicks)).to.deep.equal({ a: 4, b: 3 });
  });

  const MISTAKES = [
    step('{ event: order, window: 2d, value: sum(revenu) }'),
    step('{ event: order, window: 2d, value: last(coupon) }'),
    step('{ event: click, window: 2d, value: sum(revenue) }'),
    step('{ event: click, window: 2d, value: cuont }'),
    step('{ event: click, window: 2d, value: mean(revenue) }'),
    step('{ event: click, window: 2d }', 'with: product.brand, lists: mean'),
  ];

  it('are refused at their place, with what to write', async () => {
    const messages: string[] = [];
    for (const options of MISTAKES) {
      const error: unknown = await startProject(files(options)).catch((reason: unknown) => reason);
      if (!(error instanceof ProjectInvalidError)) throw new Error(`no mistake was found in ${options}`);
      messages.push(renderDiagnostics(error.diagnostics, { color: false, width: 80 }));
    }
    const found = `${messages.map((one) => one.trimEnd()).join('\n\n')}\n`;
    const golden = repositoryPath('test', 'pipelines', 'interaction-values.expected.txt');
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, found);
    expect(found).to.equal(readFileSync(golden, 'utf8'));
  });
});
