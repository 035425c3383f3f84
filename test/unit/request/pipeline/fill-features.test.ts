import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Frame } from '../../../../runtime/language/frame/frame.js';
import { FrameLayout } from '../../../../runtime/language/frame/frame-layout.js';
import type { FeatureRead } from '../../../../runtime/request/compile/plan.js';
import { fillFeatures } from '../../../../runtime/request/pipeline/features/fetch-features.js';
import { MANY_ELEMENTS, type CellRead } from '../../../../runtime/request/pipeline/hydrate/cell-read.js';
import type { ReadServices } from '../../../../runtime/request/pipeline/hydrate/read-services.js';

/** A read of so many rows, each of which repeats so many elements. */
function readOf(count: number, elements: number) {
  const filled: number[] = [];
  const cells: CellRead = {
    count,
    hasId: () => true,
    missing: () => 0,
    missingLayouts: () => undefined,
    begin: () => undefined,
    fill: (row) => {
      filled.push(row);
      return elements;
    },
  };
  return { filled, read: { group: 0 } as FeatureRead, cells };
}

const SERVICES = { batch: { keysRead: 0 } } as unknown as ReadServices;

function fill(...all: ReturnType<typeof readOf>[]): Promise<void> | undefined {
  const reads = new Map(all.map(({ read, cells }) => [read, cells]));
  return fillFeatures(new Frame(new FrameLayout()), { reads, arrived: undefined }, SERVICES);
}

describe('fillFeatures', () => {
  it('leaves the turn after each row that completes the elements of one turn', async () => {
    const [long, short] = [readOf(5, 0.6 * MANY_ELEMENTS), readOf(3, 0)];
    const filling = fill(long, short);
    expect(long.filled).to.deep.equal([0, 1]);
    let turns = 0;
    while (short.filled.length < 3) {
      await nextTurn();
      turns++;
    }
    expect(turns).to.be.at.least(2);
    await filling;
    expect(long.filled).to.deep.equal([0, 1, 2, 3, 4]);
    expect(short.filled).to.deep.equal([0, 1, 2]);
  });

  it('fills all rows at once if they repeat no long lists', () => {
    const [many, few] = [readOf(5000, 0), readOf(2, 1)];
    expect(fill(many, few)).to.equal(undefined);
    expect([many.filled.length, few.filled.length]).to.deep.equal([5000, 2]);
  });
});
