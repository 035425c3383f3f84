import { expect } from 'chai';
import { writePortions } from '../../../../runtime/state/index/write-portions.js';
import { StoreWriteError } from '../../../../runtime/state/store/store.js';

describe('writePortions', () => {
  const sizeOf = (size: number): number => size;

  it('writes everything in order, in portions bounded in count and bytes', async () => {
    const portions: (readonly number[])[] = [];
    const list = [...new Array<number>(300).fill(1), 300_000, 200_000, 200_000, 5];
    const results = await writePortions(list, sizeOf, (portion) => {
      portions.push(portion);
      return Promise.resolve(portion.map((size) => size + 1));
    });
    expect(portions.flat()).to.deep.equal(list);
    expect(portions.map(({ length }) => length)).to.deep.equal([128, 128, 45, 2, 1]);
    expect(results).to.deep.equal(list.map((size) => size + 1));
  });

  it('tells what is confirmed where a portion fails, and writes no further one', async () => {
    let writes = 0;
    const list = new Array<number>(400).fill(1);
    const error = await writePortions(
      list,
      sizeOf,
      (portion) => {
        writes++;
        if (writes < 2) return Promise.resolve(undefined);
        const confirmed = [true, ...portion.map((_, i) => i % 2 === 0)];
        return Promise.reject(new StoreWriteError('no more', confirmed, 'store_read_only'));
      },
      1,
    ).catch((one: unknown) => one);
    expect(writes).to.equal(2);
    expect(error).to.be.instanceOf(StoreWriteError);
    expect((error as StoreWriteError).message).to.equal('no more');
    expect((error as StoreWriteError).code).to.equal('store_read_only');
    expect((error as StoreWriteError).confirmed).to.deep.equal(
      list.map((_, i) => i < 128 || (i < 256 && i % 2 === 0)),
    );
  });
});
