import { expect } from 'chai';
import {
  NotMasterError,
  reasonFor,
  remedyFor,
  unavailable,
  UnknownMasterError,
} from '../../../../../runtime/state/store/redis/failure.js';

describe('the reason why a Redis cannot be used', () => {
  const cases: readonly (readonly [error: Error, reason: string, remedy: RegExp])[] = [
    [
      new Error(
        'All sentinels are unreachable. Retrying from scratch after 50ms. Last error: Connection is closed.',
      ),
      'none of the Sentinels can be used: no connection',
      /^Check REDIS_SENTINELS,/,
    ],
    [
      new Error(
        'All sentinels are unreachable and retry is disabled. Last error: connect ECONNREFUSED 127.0.0.1:26379',
      ),
      'none of the Sentinels can be used: connection refused',
      /^Check REDIS_SENTINELS,/,
    ],
    [
      new Error(
        `All sentinels are unreachable. Retrying from scratch after 50ms. Last error: ${new UnknownMasterError('main').message}`,
      ),
      'the Sentinels know no master called `main`',
      /^Check REDIS_SENTINEL_MASTER;/,
    ],
    [
      new NotMasterError('10.0.0.7:6379'),
      'the master is now 10.0.0.7:6379',
      /^Check that the Sentinels name the address/,
    ],
    [
      new NotMasterError(undefined),
      'no Sentinel confirms that it is the master',
      /^Check that the Sentinels name the address/,
    ],
    [
      new Error('NOAUTH Authentication required.'),
      'NOAUTH Authentication required',
      /^Check the user, password/,
    ],
  ];
  for (const [error, reason, remedy] of cases)
    it(reason, () => {
      expect(reasonFor(error)).to.equal(reason);
      expect(remedyFor(reason, true)).to.match(remedy).and.not.match(/\.$/);
      expect(unavailable('somewhere', error).message).to.not.match(/\.$/);
    });

  it('does not name a setting of another kind of server', () => {
    expect(remedyFor('connection refused')).to.include('REDIS_URL').and.include('`store: embedded`');
    expect(remedyFor('connection refused', false, false))
      .to.include('`url`')
      .and.not.include('embedded');
    expect(remedyFor('connection refused', true)).to.not.match(/REDIS_URL|redis-server/);
  });
});
