import { expect } from 'chai';
import { Usage } from '../../../../runtime/ground/core/usage.js';

describe('usage', () => {
  it('ends with the last work, whether it succeeds or fails', async () => {
    const usage = new Usage();
    expect(await usage.idle(0)).to.equal(true);
    usage.begin();
    usage.hold(Promise.reject(new Error('failed')).finally(() => usage.end()));
    expect(await Promise.all([usage.idle(60_000), usage.idle(60_000)])).to.deep.equal([true, true]);
  });

  it('does not wait forever for work that never settles', async () => {
    const usage = new Usage();
    usage.hold(new Promise(() => undefined));
    expect(await usage.idle(5)).to.equal(false);
  });
});
