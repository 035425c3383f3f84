import { expect } from 'chai';
import fc from 'fast-check';
import { TextSimilarity } from '../../../../plugins/similarity/text-similarity.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import { absent, compute, FakeStep } from '../../../support/step-input.js';

describe('similarity of lists of texts', () => {
  it('counts shared texts', async () => {
    const step = new FakeStep(3);
    const of = step.texts([['a', 'b', 'b', 'c'], ['x'], ['b', 'c']]);
    const component = new TextSimilarity(of, step.requestTexts(['b', 'c', 'd']));
    expect(await compute(component, step)).to.deep.equal({
      shared: [2, 0, 2],
      jaccard: [2 / 4, 0, 2 / 3],
      overlap: [2 / 3, 0, 1],
    });
  });

  it('compares many texts, which takes several turns', async () => {
    const shared = Array.from({ length: 1000 }, (_, i) => `t${i}`);
    const rows = Array.from({ length: 30 }, (_, row) => [...shared, `own${row}`]);
    const step = new FakeStep(rows.length);
    const found = await compute(new TextSimilarity(step.texts(rows), step.requestTexts(shared)), step);
    expect(found).to.deep.equal({
      shared: rows.map(() => 1000),
      jaccard: rows.map(() => 1000 / 1001),
      overlap: rows.map(() => 1),
    });
  });

  it('equals its definition for any lists, whichever side is of the request', async () => {
    const list = fc.array(fc.constantFrom('a', 'b', 'c', 'd', '__proto__', ''), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(list, list), { maxLength: 6 }), list, async (rows, one) => {
        const step = new FakeStep(rows.length);
        const a = step.texts(rows.map(([first]) => first));
        const b = step.texts(rows.map(([, second]) => second));
        const request = step.requestTexts(one);
        const plain = (pairs: readonly (readonly [string[], string[]])[]): object => {
          const cells = pairs.map(([x, y]) => plainSimilarity(x, y));
          return {
            jaccard: cells.map(({ jaccard }) => jaccard),
            overlap: cells.map(({ overlap }) => overlap),
            shared: cells.map(({ shared }) => shared),
          };
        };
        expect(await compute(new TextSimilarity(a, b), step)).to.deep.equal(plain(rows));
        const toOne = plain(rows.map(([first]) => [first, one]));
        expect(await compute(new TextSimilarity(a, request), step)).to.deep.equal(toOne);
        expect(await compute(new TextSimilarity(request, a), step)).to.deep.equal(toOne);
        const itself = plain(rows.map(() => [one, one]));
        expect(await compute(new TextSimilarity(request, step.requestTexts(one)), step)).to.deep.equal(
          itself,
        );
      }),
    );
  });

  it('has the status of the unknown list', async () => {
    const lost = { status: Status.missing_entity };
    const step = new FakeStep(2);
    const component = new TextSimilarity(step.texts([lost, ['a']]), step.requestTexts(absent));
    const { jaccard, overlap, shared } = await compute(component, step);
    for (const cells of [jaccard, overlap, shared]) expect(cells).to.deep.equal([lost, absent]);
  });
});

function plainSimilarity(a: readonly string[], b: readonly string[]) {
  const [x, y] = [a, b].map((list) => new Set(list.filter((text) => text !== '')));
  const shared = [...(x ?? [])].filter((text) => y?.has(text) === true).length;
  const [sizeX, sizeY] = [x?.size ?? 0, y?.size ?? 0];
  const union = sizeX + sizeY - shared;
  const smaller = Math.min(sizeX, sizeY);
  return {
    shared,
    jaccard: union > 0 ? shared / union : absent,
    overlap: smaller > 0 ? shared / smaller : absent,
  };
}
