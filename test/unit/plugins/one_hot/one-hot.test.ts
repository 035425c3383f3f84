import { expect } from 'chai';
import fc from 'fast-check';
import { plugin } from '../../../../plugins/one_hot/index.js';
import { OptionError } from '../../../../runtime/ground/api/option-error.js';
import type { FeatureComponent } from '../../../../runtime/ground/api/component.js';
import type { Input } from '../../../../runtime/ground/api/input.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import { createComponent } from '../../../support/create-component.js';
import { absent, compute, FakeStep, type Cell } from '../../../support/step-input.js';

type Cells = Record<string, Cell<number | string>[]>;
type Categories = Readonly<Record<string, string | readonly string[]>>;

async function oneHot(step: FakeStep, of: Input, categories: Categories): Promise<Cells> {
  const component = await createComponent(plugin, { of, categories });
  return compute(component as FeatureComponent, step);
}

describe('one_hot', () => {
  it('writes 1 for the category of the text, or for other', async () => {
    const step = new FakeStep(4);
    const of = step.text(['Lamps', 'Sofas', 'lamps', '']);
    expect(await oneHot(step, of, { lamps: 'Lamps', seats: ['Chairs', 'Sofas'] })).to.deep.equal({
      lamps: [1, 0, 0, 0],
      seats: [0, 1, 0, 0],
      other: [0, 0, 1, 1],
    });
  });

  it('gives all outputs the status of an unknown text', async () => {
    const lost = { status: Status.missing_entity };
    const step = new FakeStep(2);
    expect(await oneHot(step, step.text([lost, absent]), { a: 'a' })).to.deep.equal({
      a: [lost, absent],
      other: [lost, absent],
    });
  });

  it('allows several categories for several texts', async () => {
    const step = new FakeStep(4);
    const of = step.texts([['a', 'b', 'a'], ['b', 'x'], [], absent]);
    expect(await oneHot(step, of, { a: 'a', b: 'b' })).to.deep.equal({
      a: [1, 0, 0, absent],
      b: [1, 1, 0, absent],
      other: [0, 1, 0, absent],
    });
  });

  it('equals its definition for any texts', async () => {
    const text = fc.constantFrom('a', 'b', 'c', 'constructor', '__proto__', '');
    await fc.assert(
      fc.asyncProperty(fc.array(text), async (texts) => {
        const step = new FakeStep(texts.length);
        const found = await oneHot(step, step.text(texts), {
          x: ['a', '__proto__'],
          constructor: 'constructor',
        });
        texts.forEach((one, row) => {
          const isX = one === 'a' || one === '__proto__';
          const isConstructor = one === 'constructor';
          expect(found['x']?.[row]).to.equal(Number(isX));
          expect(found['constructor']?.[row]).to.equal(Number(isConstructor));
          expect(found['other']?.[row]).to.equal(Number(!isX && !isConstructor));
        });
      }),
    );
  });

  it('refuses values that are not texts, a category called other, and a text in two categories', () => {
    const step = new FakeStep(0);
    const build = (of: Input, categories: Categories): unknown => createComponent(plugin, { of, categories });
    const of = step.text([]);
    expect(() => build(step.number([], 'product.price'), { a: 'a' })).to.throw(
      OptionError,
      '`product.price` is neither a text nor a list of texts',
    );
    expect(() => build(of, { other: 'a' }))
      .to.throw(OptionError, '`other` is the output')
      .with.property('path')
      .that.deep.equals(['categories', 'other']);
    expect(() => build(of, { a: 'x', b: ['y', 'x'] }))
      .to.throw(OptionError, '`x` occurs twice')
      .with.property('path')
      .that.deep.equals(['categories', 'b', 1]);
  });
});
