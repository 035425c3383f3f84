import { expect } from 'chai';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import { within } from '../../../../runtime/state/store/redis/deadline.js';

describe('a wait for Redis', () => {
  const never = new Promise<never>(() => undefined);

  it('ends with the reason of the request, which is not that the store does not answer', async () => {
    const stop = new AbortController();
    const waiting = within(never, stop.signal).catch((error: unknown) => error);
    const reason = new MillraceError('deadline_exceeded', 'the limit of 250 ms is over');
    stop.abort(reason);
    expect(await waiting).to.equal(reason);
    expect(await within(never, stop.signal).catch((error: unknown) => error)).to.equal(reason);
  });

  it('is never store_unavailable because the request ended', async () => {
    const error: unknown = await within(never, AbortSignal.abort()).catch((thrown: unknown) => thrown);
    expect((error as MillraceError).code).to.equal('deadline_exceeded');
  });
});
