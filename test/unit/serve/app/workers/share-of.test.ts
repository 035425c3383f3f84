import { expect } from 'chai';
import { shareOf } from '../../../../../runtime/serve/app/workers/share-of.js';
import { row, wholeNumber } from '../../../../../runtime/project/settings/setting-row.js';
import { loadSettings } from '../../../../../runtime/project/settings/settings.js';

const bound = row({
  env: 'MILLRACE_MAX_RANKING_BYTES',
  value: 'BYTES',
  default: '1025',
  description: 'A bound of the whole service.',
  expected: 'a number',
  dividedByWorkers: true,
  parse: wholeNumber(1, 10_000),
});

describe('shareOf', () => {
  it('divides the bounds of the whole service, rounded up, and leaves every other setting alone', () => {
    const settings = loadSettings({ MILLRACE_MAX_RANKING_BYTES: '1025', MILLRACE_WORKERS: '4' });
    const share = shareOf(settings, 4, { rankingBytes: bound });
    expect(share.rankingBytes).to.equal(257);
    expect({ ...share, rankingBytes: 1025 }).to.deep.equal(settings);
  });

  it('keeps 0, which switches a bound off', () => {
    const settings = loadSettings({ MILLRACE_LAME_DUCK_MS: '0' });
    expect(shareOf(settings, 3, { lameDuckMs: bound }).lameDuckMs).to.equal(0);
  });

  it('divides a rate, and leaves one that is off', () => {
    const share = (rate: string): unknown =>
      shareOf(loadSettings({ MILLRACE_RATE_PER_ADDRESS: rate }), 4).ratePerAddress;
    expect(share('101/m')).to.deep.equal({ requests: 26, seconds: 60 });
    expect(share('off')).to.equal('off');
  });

  it('leaves each worker enough memory for the largest body', () => {
    const settings = loadSettings({ MILLRACE_WORKERS: '64' });
    expect(shareOf(settings, 64)).to.include({
      maxInFlight: Math.ceil(settings.maxInFlight / 64),
      maxConnections: Math.ceil(settings.maxConnections / 64),
      bodyMemory: settings.uploadBytes,
    });
  });
});
