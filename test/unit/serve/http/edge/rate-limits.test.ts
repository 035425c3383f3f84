import type { IncomingMessage, ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { AddressRanges } from '../../../../../runtime/ground/core/address-ranges.js';
import { MOST_COUNTED, RateLimits } from '../../../../../runtime/serve/http/edge/rate-limits.js';

describe('RateLimits', () => {
  it('limits each key by its own rate, divided among the workers', async () => {
    const limits = new RateLimits('off', AddressRanges.none, 2);
    const codes = async (key: string, requests: number): Promise<(string | undefined)[]> => {
      const found: (string | undefined)[] = [];
      for (let i = 0; i < 3; i++)
        found.push((await limits.countKey(key, { requests, seconds: 60 }, answer().res))?.code);
      return found;
    };
    expect(await codes('search', 4)).to.deep.equal([undefined, undefined, 'rate_limited']);
    expect(await codes('other', 4)).to.deep.equal([undefined, undefined, 'rate_limited']);
    expect(await codes('small', 1)).to.deep.equal([undefined, 'rate_limited', 'rate_limited']);
    const { res, headers } = answer();
    await limits.countKey('search', { requests: 4, seconds: 60 }, res);
    expect(headers.get('RateLimit-Policy')).to.equal('"key";q=2;w=60');
    expect(headers.get('Retry-After')).to.equal(60);
  });

  it('counts again after the window', async () => {
    const limits = new RateLimits('off', AddressRanges.none, 1);
    const count = async (): Promise<string | undefined> =>
      (await limits.countKey('search', { requests: 1, seconds: 1 }, answer().res))?.code;
    expect([await count(), await count()]).to.deep.equal([undefined, 'rate_limited']);
    await new Promise((resolve) => setTimeout(resolve, 1050));
    expect(await count()).to.equal(undefined);
  });

  it('keeps its memory within bounds under many addresses', async function () {
    this.timeout(30_000);
    const limits = new RateLimits({ requests: 1, seconds: 3600 }, AddressRanges.none, 1);
    const { res } = answer();
    const send = (number: number): Promise<unknown> =>
      limits.countAddress(from(`10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`), res);
    for (let i = 0; i < MOST_COUNTED; i++) await send(i);
    const full = heapUsed();
    for (let i = MOST_COUNTED; i < 6 * MOST_COUNTED; i++) await send(i);
    const grown = (heapUsed() - full) / MOST_COUNTED;
    // Without the bound, each of the 250,000 further addresses keeps more than 200 bytes.
    expect(grown, 'bytes for each counted address').to.be.below(100);
    // The newest addresses are still counted, and the oldest are forgotten.
    expect(await send(6 * MOST_COUNTED - 1)).to.have.property('code', 'rate_limited');
    expect(await send(0)).to.equal(undefined);
  });
});

function from(remoteAddress: string): IncomingMessage {
  return { socket: { remoteAddress }, headers: {} } as unknown as IncomingMessage;
}

function answer(): { res: ServerResponse; headers: Map<string, unknown> } {
  const headers = new Map<string, unknown>();
  const res = { setHeader: (name: string, value: unknown) => headers.set(name, value) };
  return { res: res as unknown as ServerResponse, headers };
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
