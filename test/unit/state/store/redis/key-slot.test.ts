import { expect } from 'chai';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { keySlot, SLOTS } from '../../../../../runtime/state/store/redis/cluster/key-slot.js';
import { describeWith } from '../../../../support/needs.js';
import { startRedisServer, type PrivateRedis } from '../../../../support/redis-server.js';

describe('the slot of a key', () => {
  it('matches the example of the specification', () => {
    expect(keySlot('123456789')).to.equal(0x31c3);
    expect(keySlot('')).to.equal(0);
  });

  it('depends only on the hash tag, if there is one', () => {
    expect(keySlot('{user1000}.following')).to.equal(keySlot('{user1000}.followers'));
    expect(keySlot('foo{bar}{zap}')).to.equal(keySlot('bar'));
    expect(keySlot('foo{{bar}}zap')).to.equal(keySlot('{bar'));
    expect(keySlot('foo{}{bar}')).not.to.equal(keySlot('bar'));
  });

  describeWith('redis-server', 'for any key', () => {
    let server: PrivateRedis | undefined;
    let client: Redis;
    before(async function () {
      server = await startRedisServer(['--cluster-enabled', 'yes', '--cluster-port', '0']).catch(
        () => undefined,
      );
      server ??= await startRedisServer(['--cluster-enabled', 'yes'], lowPort);
      client = new Redis(server.url);
    });
    after(async () => {
      (client as Redis | undefined)?.disconnect();
      await server?.remove();
    });

    it('matches the slot that a cluster server reports', async () => {
      const text = fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: fc.constantFrom('{', '}', 'a', 'ß', '😀') }),
      );
      const keys = fc.sample(text, 500);
      const theirs = await Promise.all(keys.map((key) => client.cluster('KEYSLOT', key)));
      expect(keys.map(keySlot)).to.deep.equal(theirs);
      for (const key of keys) expect(keySlot(key)).to.be.within(0, SLOTS - 1);
    });
  });
});

/** The bus port is higher by 10,000. */
function lowPort(): Promise<number> {
  return Promise.resolve(17_000 + Math.floor(Math.random() * 5000));
}
