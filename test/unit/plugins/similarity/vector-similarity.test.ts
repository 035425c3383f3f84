import { expect } from 'chai';
import fc from 'fast-check';
import { plugin } from '../../../../plugins/similarity/index.js';
import { VectorSimilarity } from '../../../../plugins/similarity/vector-similarity.js';
import { OptionError } from '../../../../runtime/ground/api/option-error.js';
import type { FeatureComponent } from '../../../../runtime/ground/api/component.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import { widenVectors } from '../../../../runtime/language/frame/frame.js';
import { createComponent } from '../../../support/create-component.js';
import { absent, compute, FakeStep, type Cell } from '../../../support/step-input.js';

type Vector = readonly number[];

/** Computes the similarity of the candidates' vectors to one vector of the request. */
async function toRequest(cells: readonly Cell<Vector>[], other: Cell<Vector>, size: number) {
  const step = new FakeStep(cells.length);
  return compute(new VectorSimilarity(step.vector(cells, size), step.requestVector(other, size)), step);
}

const lost = { status: Status.missing_entity };

describe('similarity of vectors', () => {
  it('is the cosine and the dot product', async () => {
    const { cosine, dot } = await toRequest(
      [
        [3, 4],
        [4, -3],
        [-6, -8],
        [1, 0],
      ],
      [3, 4],
      2,
    );
    expect(dot).to.deep.equal([25, 0, -50, 3]);
    expect(cosine).to.deep.equal([1, 0, -1, 0.6]);
  });

  it('gives the distance, also of vectors that are nearly equal', async () => {
    const near = [1e8 + 1, 1e8];
    const { distance = [] } = await toRequest([[3, 4], [0, 0], [6, 8], near, lost], [3, 4], 2);
    expect(distance.slice(0, 3)).to.deep.equal([0, 5, 5]);
    expect(distance[4]).to.deep.equal(lost);
    const { distance: small = [] } = await toRequest(
      [
        [1.0001, 1],
        [1, 1 + 2 ** -20],
      ],
      [1, 1],
      2,
    );
    expect(small[1]).to.equal(2 ** -20);
    expect(small[0]).to.be.closeTo(Math.fround(1.0001) - 1, 1e-15);
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(
            fc.double({ min: -1e6, max: 1e6, noNaN: true }),
            fc.double({ min: -1, max: 1, noNaN: true }),
          ),
          { minLength: 1, maxLength: 9 },
        ),
        async (pairs) => {
          const a = pairs.map(([one]) => Math.fround(one));
          const b = pairs.map(([one, shift]) => Math.fround(one + shift));
          const { distance: found = [] } = await toRequest([a], b, a.length);
          const wanted = Math.sqrt(a.reduce((sum, one, i) => sum + (one - (b[i] ?? NaN)) ** 2, 0));
          expect(found[0]).to.be.closeTo(wanted, 1e-9 * wanted);
        },
      ),
    );
  });

  it('equals its definition for vectors of any size, whichever side is of the request', async () => {
    const element = fc.float({ noNaN: true, noDefaultInfinity: true, min: -(2 ** 60), max: 2 ** 60 });
    const pairs = fc
      .integer({ min: 1, max: 11 })
      .chain((size) =>
        fc.tuple(
          fc.constant(size),
          fc.array(fc.tuple(vectorOf(size, element), vectorOf(size, element)), { maxLength: 5 }),
        ),
      );
    await fc.assert(
      fc.asyncProperty(pairs, async ([size, rows]) => {
        const step = new FakeStep(rows.length);
        const [a, b] = [
          step.vector(
            rows.map(([one]) => one),
            size,
          ),
          step.vector(
            rows.map(([, one]) => one),
            size,
          ),
        ];
        const both = await compute(new VectorSimilarity(a, b), step);
        rows.forEach(([one, other], row) => {
          expectClose(both['dot']?.[row], plainDot(one, other), scaleOf(one, other));
          expectClose(both['cosine']?.[row], plainCosine(one, other), 1);
        });
        const [first] = rows;
        if (first === undefined) return;
        const request = step.requestVector(first[1], size);
        const [left, right] = [new VectorSimilarity(request, a), new VectorSimilarity(a, request)];
        const toFirst = await compute(left, step);
        expect(toFirst).to.deep.equal(await compute(right, step));
        expect([toFirst['dot']?.[0], toFirst['cosine']?.[0]]).to.deep.equal([
          both['dot']?.[0],
          both['cosine']?.[0],
        ]);
      }),
    );
  });

  it('is the same whether the elements are held as float32 or as float64', async () => {
    const element = fc.float({ noNaN: true, noDefaultInfinity: true, min: -1000, max: 1000 });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 11 }).chain((size) => fc.array(vectorOf(size, element), { minLength: 2 })),
        async (vectors) => {
          const size = vectors[0]?.length ?? 0;
          const step = new FakeStep(vectors.length);
          const [a, b] = [step.vector(vectors, size), step.vector([...vectors].reverse(), size)];
          const narrow = await compute(new VectorSimilarity(a, b), step);
          widenVectors(step.column(a));
          expect(await compute(new VectorSimilarity(a, b), step)).to.deep.equal(narrow);
          widenVectors(step.column(b));
          expect(await compute(new VectorSimilarity(a, b), step)).to.deep.equal(narrow);
        },
      ),
    );
  });

  it('is never outside -1 to 1, and 1 of a vector with itself within rounding', async () => {
    const vector = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), {
      minLength: 5,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(vector, async (one) => {
        const { cosine } = await toRequest([one], one, 5);
        const [value] = cosine ?? [];
        if (one.every((element) => element === 0)) expect(value).to.deep.equal(absent);
        else expect(value).to.be.within(1 - 1e-12, 1);
      }),
    );
  });

  it('has no cosine for a vector of zeros; the dot product is 0', async () => {
    const { cosine, dot } = await toRequest(
      [
        [0, 0],
        [1, 1],
      ],
      [1, 0],
      2,
    );
    expect(cosine?.[0]).to.deep.equal(absent);
    expect(dot).to.deep.equal([0, 1]);
    expect((await toRequest([[1, 1]], [0, 0], 2))['cosine']).to.deep.equal([absent]);
  });

  it('distinguishes the smallest vectors from zeros', async () => {
    const least = 2 ** -149;
    const { cosine, dot } = await toRequest([[least, 0]], [least, 0], 2);
    expect(cosine).to.deep.equal([1]);
    expect(dot).to.deep.equal([least * least]);
  });

  it('has the status of the first unknown vector', async () => {
    const missing = { status: Status.missing_feature };
    const { cosine, dot } = await toRequest([lost, [1, 1]], missing, 2);
    expect(dot).to.deep.equal([lost, missing]);
    expect(cosine).to.deep.equal([lost, missing]);
    const step = new FakeStep(1);
    const swapped = new VectorSimilarity(step.requestVector(missing, 2), step.vector([lost], 2));
    expect((await compute(swapped, step))['dot']).to.deep.equal([missing]);
  });

  it('accepts stale and defaulted vectors', async () => {
    const step = new FakeStep(1);
    const input = step.vector([[1, 2]], 2);
    step.column(input).status[0] = Status.stale;
    const { dot } = await compute(new VectorSimilarity(input, step.requestVector([1, 1], 2)), step);
    expect(dot).to.deep.equal([3]);
  });

  it('fails if an element is beyond float32', async () => {
    const { cosine, dot } = await toRequest([[1e300, 1]], [1, 1], 2);
    const failed = [{ status: Status.failed }];
    expect(dot).to.deep.equal(failed);
    expect(cosine).to.deep.equal(failed);
  });

  it('compares two vectors of the request for every candidate', async () => {
    const step = new FakeStep(2);
    const component = new VectorSimilarity(step.requestVector([1, 2], 2), step.requestVector([3, 4], 2));
    expect((await compute(component, step))['dot']).to.deep.equal([11, 11]);
  });

  it('refuses vectors of different sizes at the place of the second', () => {
    const step = new FakeStep(0);
    const vectors = [step.vector([], 3, 'product.embedding'), step.vector([], 4, 'user.embedding')];
    expect(() => createComponent(plugin, { vectors }))
      .to.throw(OptionError, '`user.embedding` is a vector(4), `product.embedding` a vector(3)')
      .with.property('path')
      .that.deep.equals(['vectors', 1]);
  });

  it('requires exactly one pair', () => {
    const step = new FakeStep(0);
    const vectors = [step.vector([], 3), step.vector([], 3)];
    const texts = [step.texts([]), step.texts([])];
    expect(() => createComponent(plugin, {})).to.throw(OptionError, '`vectors` is missing');
    expect(() => createComponent(plugin, { vectors, texts })).to.throw(OptionError, 'both given');
    const outputs = (options: object): string[] =>
      Object.keys((createComponent(plugin, options) as FeatureComponent).outputs);
    expect(outputs({ vectors })).to.deep.equal(['cosine', 'dot', 'distance']);
    expect(outputs({ texts })).to.deep.equal(['jaccard', 'overlap', 'shared']);
  });
});

function vectorOf(size: number, element: fc.Arbitrary<number>): fc.Arbitrary<number[]> {
  return fc.array(element, { minLength: size, maxLength: size });
}

function plainDot(a: Vector, b: Vector): number {
  return a.reduce((sum, one, i) => sum + one * (b[i] ?? NaN), 0);
}

function plainCosine(a: Vector, b: Vector): number | undefined {
  const norms = Math.sqrt(plainDot(a, a)) * Math.sqrt(plainDot(b, b));
  return norms === 0 ? undefined : plainDot(a, b) / norms;
}

/** The magnitude of the summands, which limits the rounding error. */
function scaleOf(a: Vector, b: Vector): number {
  return plainDot(a.map(Math.abs), b.map(Math.abs));
}

function expectClose(
  found: Cell<number | string> | undefined,
  wanted: number | undefined,
  scale: number,
): void {
  if (wanted === undefined) expect(found).to.deep.equal(absent);
  else expect(Math.abs(Number(found) - wanted)).to.be.at.most(1e-12 * scale);
}
