import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import { renderDiagnostics } from '../../runtime/project/config/diagnostics/render.js';
import { pluginFiles, scoresOf, startProject, writeProject, type TestProject } from '../support/project.js';

/** Adjacent feature steps run in the order of their needs, in any written order. */

const twice = (name: string, input: string): Record<string, string> =>
  pluginFiles(
    name,
    'feature',
    `const input = build.need('${input}');
     return { outputs: { value: 'number' }, compute(step, output) {
       const from = step.column(input), to = output.number('value');
       for (const row of step.rows) { to.values[row] = 2 * from.values[row * from.stride]; to.status[row] = Status.present; }
     } };`,
  );

const FILES = {
  'package.json': '{ "type": "module" }',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, stock: int, kind: string }\n',
  ...twice('one', 'product.price'),
  ...twice('two', 'one:value'),
  ...twice('three', 'half'),
};

const linear = (as: string, weight: string): string =>
  `  - use: linear\n    as: ${as}\n    with: { weights: { ${weight}: 1 }, missing: 0 }\n`;
const score = (value: string): string => `  - use: score\n    with: { value: '${value}' }\n`;
const pipeline = (components: string, define = '{}'): Record<string, string> => ({
  'pipelines/ranking.yaml': `pipeline: ranking\nrank: product\ndefine: ${define}\ncomponents:\n${components}`,
});

describe('the order of feature steps', () => {
  let project: TestProject | undefined;
  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  async function scores(files: Record<string, string>): Promise<Record<string, number>> {
    project = await startProject({ ...FILES, ...files });
    await project.upload('product', { product_id: 'p', price: 3, stock: 1 }, { product_id: 'q', price: 5 });
    return scoresOf(await project.rank({ candidates: [{ product_id: 'p' }, { product_id: 'q' }] }));
  }

  const order = (): string[] => project?.app.pipelines[0]?.describe().components.map(({ as }) => as) ?? [];

  it('follows names in options, across several steps', async () => {
    const steps = linear('c', 'b:score * 10') + linear('b', 'a:score + 1') + linear('a', 'product.price');
    expect(await scores(pipeline(steps + score('c:score')))).to.deep.equal({ p: 40, q: 60 });
    expect(order()).to.deep.equal(['a', 'b', 'c', 'score']);
  });

  it('follows the needs of plugins by name, also through definitions', async () => {
    // `double` is used by the step that is postponed and by the step that it needs.
    const define = '{ half: (two:value + double - double) / 2, double: product.price * 2 }';
    const steps =
      linear('sum', 'double + three:value + 0 * double') + '  - use: three\n  - use: two\n  - use: one\n';
    expect(await scores(pipeline(steps + score('sum:score'), define))).to.deep.equal({ p: 18, q: 30 });
    expect(order()).to.deep.equal(['one', 'two', 'three', 'sum', 'score']);
  });

  it('shows no definition that nothing uses', async () => {
    const define = '{ unused: alias > 2, alias: product.price, used: "1" }';
    await scores(pipeline(score('used'), define));
    const [compiled] = project?.app.pipelines ?? [];
    const told = await compiled?.explain({ candidates: [{ product_id: 'p' }] }, { requestId: 'r' });
    const shown = { ...told?.request, ...told?.page[0]?.values };
    expect(Object.keys(shown)).to.have.members(['request.request_id', 'product.product_id', 'used']);
  });

  it('creates a component again if it went on without an output of a later step', async () => {
    const counts = globalThis as { closedWithout?: number };
    counts.closedWithout = 0;
    const lenient = pluginFiles(
      'lenient',
      'feature',
      `let input;
       try { input = build.need('one:value'); } catch { /* it does without */ }
       return {
         outputs: { value: 'number' },
         compute(step, output) {
           const to = output.number('value');
           for (const row of step.rows) { to.values[row] = input ? step.column(input).values[row] : -1; to.status[row] = Status.present; }
         },
         close() { if (!input) globalThis.closedWithout++; },
       };`,
    );
    const steps = '  - use: lenient\n  - use: one\n';
    expect(await scores({ ...lenient, ...pipeline(steps + score('lenient:value')) })).to.deep.equal({
      p: 6,
      q: 10,
    });
    expect(order()).to.deep.equal(['one', 'lenient', 'score']);
    expect(counts.closedWithout).to.equal(1);
  });

  it('computes a definition before the first step that runs with it', async () => {
    const steps = linear('late', 'shared + early:score') + linear('early', 'shared * 100');
    const define = '{ shared: product.price + 1 }';
    expect(await scores(pipeline(steps + score('late:score'), define))).to.deep.equal({ p: 404, q: 606 });
  });

  it('keeps the written order of independent steps', async () => {
    const steps = linear('b', 'product.price') + linear('a', 'product.price') + linear('c', 'd:score');
    await scores(pipeline(steps + linear('d', 'a:score') + score('c:score')));
    expect(order()).to.deep.equal(['b', 'a', 'd', 'c', 'score']);
  });

  it('gives a step the same candidates and scores wherever it is written', async () => {
    const steps =
      score('product.price') +
      linear('late', 'place:rank * 10 + score') +
      '  - use: rank_within\n    as: place\n    top: 1\n    with: { value: score }\n';
    const one = await scores(pipeline(steps + score('late:score')));
    expect(one).to.deep.equal({ p: 0, q: 15 }); // p has no place: it is not in the top 1
  });

  async function told(files: Record<string, string>): Promise<string> {
    const root = await writeProject({ ...FILES, ...files });
    try {
      const { diagnostics } = await compileProject(root);
      return renderDiagnostics(diagnostics, { color: false, width: 1000 });
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  }

  it('does not move a step past one that changes the candidates or the scores', async () => {
    const filter = '  - use: filter\n    with: { keep: product.stock > 0 }\n';
    const text = await told(
      pipeline(linear('b', 'a:score') + filter + linear('a', 'product.price') + score('b:score')),
    );
    expect(text).to.contain(
      'error[used_before_produced]: `a:score` is used before the step that produces it',
    );
    expect(text).to.contain('help: move the step at line 10 above this one');
    expect(text).to.contain('1 error');
  });

  it('reports a whole cycle with its places, once', async () => {
    const text = await told(
      pipeline(
        linear('a', 'b:score') + linear('b', 'through') + linear('c', 'a:score') + score('a:score'),
        '{ through: c:score + 1 }',
      ),
    );
    expect(text).to.contain(
      'error[cyclic_steps]: steps need each other in a circle: `a` (line 5) needs `b` (line 8) needs `c` (line 11) needs `a:score`',
    );
    expect(text).to.contain('pipelines/ranking.yaml:13:');
    expect(text).to.contain('1 error');
  });

  it('reports a step that reads itself', async () => {
    const text = await told(pipeline(linear('a', 'a:score') + score('a:score')));
    expect(text).to.contain('error[cyclic_steps]: `a:score` is an output of the same step');
    expect(text).to.contain('1 error');
  });

  it('reports other mistakes of a step that is compiled twice only once', async () => {
    const text = await told(
      pipeline(
        '  - use: linear\n    as: b\n    with: { weights: { product.prize: 1, a:score: 1 } }\n' +
          linear('a', 'product.price') +
          score('b:score'),
      ),
    );
    expect(text).to.contain('has no attribute `prize`');
    expect(text).to.contain('1 error');
  });

  it('suggests the name of a later step', async () => {
    const text = await told(
      pipeline(linear('b', 'intrest:score') + linear('interest', '1') + score('b:score')),
    );
    expect(text).to.contain('did you mean `interest:score`?');
  });
});
