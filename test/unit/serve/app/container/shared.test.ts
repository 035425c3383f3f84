import { expect } from 'chai';
import { Shared } from '../../../../../runtime/serve/app/container/shared.js';

describe('what generations share', () => {
  it('is made once, and closed with the last that uses it', async () => {
    const closed: number[] = [];
    const shared = new Shared<number>((value) => void closed.push(value));
    let made = 0;
    const lease = (fits: (value: number) => boolean) => shared.lease(fits, () => ++made);
    const first = await lease(() => true);
    const second = await lease(() => true);
    const other = await lease((value) => value === 7);
    expect([first.value, second.value, other.value]).to.deep.equal([1, 1, 2]);
    expect([...shared.values()]).to.deep.equal([2, 1]);
    await first.release();
    await first.release();
    expect(closed).to.deep.equal([]);
    await second.release();
    expect(closed).to.deep.equal([1]);
    expect([...shared.values()]).to.deep.equal([2]);
    await other.release();
    expect((await lease(() => true)).value).to.equal(3);
  });

  it('goes on with what fits if a newer value was given up', async () => {
    const shared = new Shared<string>(() => undefined);
    const serving = await shared.lease(
      () => true,
      () => 'serving',
    );
    const refused = await shared.lease(
      () => false,
      () => 'refused',
    );
    await refused.release();
    const next = await shared.lease(
      () => true,
      () => 'new',
    );
    expect(next.value).to.equal(serving.value);
  });

  it('is closed at once if it is made after the end', async () => {
    const closed: string[] = [];
    const shared = new Shared<string>((value) => void closed.push(value));
    const lease = (made: string) =>
      shared.lease(
        (value) => value === made,
        () => made,
      );
    await lease('serving');
    await shared.close();
    expect(closed).to.deep.equal(['serving']);
    expect((await lease('late')).value).to.equal('late');
    expect(closed).to.deep.equal(['serving', 'late']);
  });
});
