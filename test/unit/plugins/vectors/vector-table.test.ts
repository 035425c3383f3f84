import { expect } from 'chai';
import fc from 'fast-check';
import { atOnce } from '../../../../runtime/ground/core/pieces.js';
import { VectorTable } from '../../../../plugins/vectors/vector-table.js';

/** Few different numbers, so that scores are often equal, and sums are exact in any order. */
const element = fc.constantFrom(-2, -1, -0.5, 0, 0.5, 1, 2);
const vectorOf = (size: number) => fc.array(element, { minLength: size, maxLength: size });
const id = fc.nat(40).map((n) => `p${n}`);
const history = fc.integer({ min: 1, max: 9 }).chain((size) =>
  fc.record({
    changes: fc.array(fc.tuple(id, fc.option(vectorOf(size), { freq: 3 })), { maxLength: 120 }),
    target: vectorOf(size),
    most: fc.integer({ min: 1, max: 50 }),
  }),
);

const times = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, element, i) => sum + element * (b[i] ?? NaN), 0);

describe('the table of vectors', () => {
  it('gives what a sort of all vectors gives, after any changes', () => {
    fc.assert(
      fc.property(history, ({ changes, target, most }) => {
        const table = new VectorTable(target.length);
        const kept = new Map<string, number[]>();
        for (const [id, vector] of changes) {
          if (vector === null) table.remove(id);
          else table.put(id, vector);
          if (vector === null) kept.delete(id);
          else kept.set(id, vector);
        }
        const hits = atOnce(table.nearest(Float64Array.from(target), most));
        const all = Array.from(kept, ([id, vector]) => ({ id, score: times(vector, target) }));
        all.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
        expect(hits).to.deep.equal(all.slice(0, most));
        expect(new Set(table.entityIds())).to.deep.equal(new Set(kept.keys()));
      }),
      { numRuns: 500 },
    );
  });

  it('is read in pieces, and an entity that does not change is found whatever is written between them', () => {
    const size = 384;
    const count = 3000;
    const table = new VectorTable(size);
    for (let i = 0; i < count; i++) table.put(`p${i}`, new Float32Array(size).fill(i));
    const work = table.nearest(new Float64Array(size).fill(1), 1);
    let pieces = 0;
    for (let step = work.next(); ; step = work.next()) {
      if (step.done === true) {
        expect(step.value.map(({ id }) => id)).to.deep.equal([`p${count - 1}`]);
        break;
      }
      table.remove(`p${pieces}`);
      table.put(`new${pieces}`, new Float32Array(size));
      pieces++;
    }
    expect(pieces).to.be.at.least(8);
  });
});
