import { expect } from 'chai';
import { plugin } from '../../../../plugins/linear/index.js';
import { LinearModel } from '../../../../plugins/linear/linear-model.js';
import { readModelFile } from '../../../../plugins/linear/model-file.js';
import { OptionError } from '../../../../runtime/ground/api/option-error.js';
import type { ModelComponent } from '../../../../runtime/ground/api/component.js';
import type { Input } from '../../../../runtime/ground/api/input.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import { createComponent } from '../../../support/create-component.js';
import { absent, compute, FakeStep, projectFile } from '../../../support/step-input.js';

describe('linear', () => {
  it('adds the bias and the weighted inputs', async () => {
    const step = new FakeStep(2);
    const model = new LinearModel(
      [
        { input: step.number([1, 2]), weight: 0.5, missing: 'absent' },
        { input: step.requestNumber(3), weight: -1, missing: 'absent' },
      ],
      10,
    );
    expect(await compute(model, step)).to.deep.equal({ score: [7.5, 8] });
  });

  it('never uses 0 for a missing input: the score has the status of the first one', async () => {
    const step = new FakeStep(3);
    const model = new LinearModel(
      [
        { input: step.number([1, { status: Status.expired }, 1]), weight: 1, missing: 'absent' },
        { input: step.number([2, { status: Status.failed }, absent]), weight: 1, missing: 'absent' },
      ],
      0,
    );
    const { score } = await compute(model, step);
    expect(score).to.deep.equal([3, { status: Status.expired }, { status: Status.absent }]);
  });

  it('uses the declared value for a missing input', async () => {
    const step = new FakeStep(2);
    const model = new LinearModel([{ input: step.number([absent, 1]), weight: 2, missing: 3.5 }], 0);
    expect(await compute(model, step)).to.deep.equal({ score: [7, 2] });
  });

  it('fails if the sum is not finite, and writes no other rows', async () => {
    const step = new FakeStep(3, [0, 1]);
    const model = new LinearModel([{ input: step.number([1e308, 1, 1]), weight: 10, missing: 'absent' }], 0);
    expect(await compute(model, step)).to.deep.equal({ score: [{ status: Status.failed }, 10, absent] });
  });

  describe('with a model file', () => {
    it('is the model of the file, and its names are checked like those of the options', async () => {
      const step = new FakeStep(2);
      const columns = new Map([
        ['product.rating', step.number([4, absent])],
        ['stats:ctr', step.number([0.5, 0.5])],
      ]);
      const asked: string[] = [];
      const need = (name: string): Input => {
        asked.push(name);
        return columns.get(name) ?? expect.fail(name);
      };
      const weights = { 'product.rating': { weight: 2, missing: 3 }, 'stats:ctr': 10 };
      const model = projectFile('m.json', JSON.stringify({ bias: 1, weights }));
      const component = await createComponent(plugin, { model }, need);
      expect(asked).to.deep.equal(['product.rating', 'stats:ctr']);
      expect(await compute(component as ModelComponent, step)).to.deep.equal({ score: [14, 12] });
    });

    it('refuses an input that is not a number', () => {
      const step = new FakeStep(1);
      const model = projectFile('m.json', '{"weights":{"product.title":1}}');
      const need = (): Input => step.text(['a']);
      expect(() => createComponent(plugin, { model }, need)).to.throw(
        OptionError,
        '`product.title`, which is not a number',
      );
    });

    it('refuses options that the file has too, and requires weights or a model', () => {
      const model = projectFile('m.json', '{"weights":{"a":1}}');
      expect(() => createComponent(plugin, { model, bias: 2 })).to.throw(
        OptionError,
        '`bias` and `model` are both given',
      );
      expect(() => createComponent(plugin, {})).to.throw(OptionError, '`weights` is missing');
    });
  });

  const wrongFiles = [
    ['{', 'is not JSON'],
    ['[]', 'is not a JSON object'],
    ['{"weights":{}}', 'has no weights'],
    ['{"weights":{"a":"1"}}', 'weight of `a` that is neither'],
    ['{"weights":{"a":1e999}}', 'weight of `a` that is neither'],
    ['{"weights":{"a":{"weight":1,"default":0}}}', 'weight of `a` that is neither'],
    ['{"weights":{"a":1},"intercept":1}', 'has the key `intercept`'],
    ['{"weights":{"a":1},"bias":null}', 'has a bias that is not a number'],
    ['{"weights":{"a":1},"missing":"zero"}', 'has a `missing`'],
    ['{"weights":{"__proto__":"x"}}', 'weight of `__proto__` that is neither'],
  ] as const;
  for (const [content, message] of wrongFiles) {
    it(`refuses a file that reads ${content}`, () => {
      expect(() => readModelFile(projectFile('m.json', content), ['model'])).to.throw(OptionError, message);
    });
  }
});
