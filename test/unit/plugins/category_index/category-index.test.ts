import { expect } from 'chai';
import fc from 'fast-check';
import { plugin } from '../../../../plugins/category_index/index.js';
import { OptionError } from '../../../../runtime/ground/api/option-error.js';
import type { FeatureComponent } from '../../../../runtime/ground/api/component.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import { createComponent } from '../../../support/create-component.js';
import { absent, compute, FakeStep, projectFile, type Cell } from '../../../support/step-input.js';

async function codes(
  cells: readonly Cell<string>[],
  options: object,
): Promise<readonly Cell<number | string>[]> {
  const step = new FakeStep(cells.length);
  const component = createComponent(plugin, { of: step.text(cells), unknown: 'absent', ...options });
  const { code } = await compute((await component) as FeatureComponent, step);
  return code ?? [];
}

const fileOf = (path: string, content: string): object => ({ file: projectFile(path, content) });

describe('category_index', () => {
  it('gives the position; other texts have no code', async () => {
    const categories = ['lumen', '007', 'toString'];
    expect(await codes(['007', 'lumen', 'other', '', 'toString'], { categories })).to.deep.equal([
      1,
      0,
      absent,
      absent,
      2,
    ]);
    expect(await codes(['constructor', '__proto__'], { categories, unknown: -1 })).to.deep.equal([-1, -1]);
  });

  it('keeps the status of an unknown text, even if other texts have a code', async () => {
    const lost = { status: Status.missing_entity };
    expect(await codes([lost, 'a'], { categories: ['a'], unknown: 9 })).to.deep.equal([lost, 0]);
  });

  it('equals its definition for any list', async () => {
    const list = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(list, fc.array(fc.string()), async (categories, texts) => {
        const cells = [...categories, ...texts];
        const wanted = cells.map((text) => categories.indexOf(text));
        const json = fileOf('c.JSON', JSON.stringify(categories));
        expect(await codes(cells, { categories, unknown: -1 })).to.deep.equal(wanted);
        expect(await codes(cells, { ...json, unknown: -1 })).to.deep.equal(wanted);
      }),
    );
  });

  const files: readonly [string, string][] = [
    ['c.json', '["a", "b"]'],
    ['c.json', '{"a": 0, "b": 1, "__proto__": 5}'],
    ['c.csv', '\ufeffcategory\na\nb\n'],
    ['c.csv', 'code,category,note\r\n1,b,\r\n0,"a","x, y"\r\n'],
  ];
  for (const [path, content] of files) {
    it(`reads ${JSON.stringify(content)}`, async () => {
      expect(await codes(['a', 'b', 'c'], fileOf(path, content))).to.deep.equal([0, 1, absent]);
    });
  }

  it('reads __proto__ as any other category', async () => {
    expect(await codes(['__proto__'], fileOf('c.json', '{"__proto__": 5}'))).to.deep.equal([5]);
  });

  const wrong: readonly [string, string, string][] = [
    ['c.json', '{', 'is not JSON'],
    ['c.json', '7', 'neither a list nor an object'],
    ['c.json', '[]', 'has no categories'],
    ['c.json', '["a", 2]', 'entry 2: expected a text'],
    ['c.json', '["a", "a"]', 'entry 2: `a` occurs twice'],
    ['c.json', '{"a": 1.5}', 'entry 1: the code of `a` is 1.5, not an integer'],
    ['c.json', '{"a": "1"}', 'the code of `a` is "1"'],
    ['c.csv', 'name,code\na,1\n', 'has no column `category`; it has name, code'],
    ['c.csv', 'category,code\na,\n', 'the code of `a` is ""'],
    ['c.csv', 'category,code\na,1e3\n', 'the code of `a` is "1e3"'],
    ['c.csv', 'category,code\n,1\n', 'entry 1: the category is empty'],
    ['c.csv', 'category,code\na,1\nb\n', '`c.csv`: '],
    ['c.csv', 'category,code\na,99999999999999999999\n', 'not an integer'],
  ];
  for (const [path, content, message] of wrong) {
    it(`refuses ${JSON.stringify(content)} as ${path}`, () => {
      const of = new FakeStep(0).text([]);
      expect(() => createComponent(plugin, { of, unknown: 'absent', ...fileOf(path, content) }))
        .to.throw(OptionError, message)
        .with.property('path')
        .that.deep.equals(['file']);
    });
  }

  it('requires one list without duplicates', () => {
    const of = new FakeStep(0).text([]);
    const build = (options: object): unknown =>
      createComponent(plugin, { of, unknown: 'absent', ...options });
    expect(() => build({})).to.throw(OptionError, '`categories` is missing');
    expect(() => build({ categories: ['a'], ...fileOf('c.json', '["a"]') })).to.throw(
      OptionError,
      'both given',
    );
    expect(() => build({ categories: ['a', 'b', 'a'] }))
      .to.throw(OptionError, '`a` occurs twice: at position 0 and at 2')
      .with.property('path')
      .that.deep.equals(['categories', 2]);
  });
});
