import { expect } from 'chai';
import { loadSettings, type Settings } from '../../../../runtime/project/settings/settings.js';

function settingOf<K extends keyof Settings>(name: K, env: string, value: string): Settings[K] {
  return loadSettings({ [env]: value })[name];
}

describe('settings of the edge', () => {
  it('take host names and addresses, without ports', () => {
    const hosts = (text: string): string[] => [...settingOf('hosts', 'MILLRACE_HOSTS', text)];
    expect(hosts('')).to.deep.equal([]);
    expect(hosts('Ranking.Example.com., millrace,10.0.0.1')).to.deep.equal([
      'ranking.example.com',
      'millrace',
      '10.0.0.1',
    ]);
    expect(hosts('[0:0::1],fd00::1')).to.deep.equal(['[::1]', '[fd00::1]']);
    for (const text of ['a:5001', 'http://a', '*', '*.example.com', 'a,,b', 'a b', '[::1]:80'])
      expect(() => hosts(text), text).to.throw('MILLRACE_HOSTS');
  });

  it('take exact origins, and no wildcard', () => {
    const origins = (text: string): string[] => [...settingOf('corsOrigins', 'MILLRACE_CORS_ORIGINS', text)];
    expect(origins('https://Shop.example.com, http://localhost:3000')).to.deep.equal([
      'https://shop.example.com',
      'http://localhost:3000',
    ]);
    for (const text of [
      '*',
      'null',
      'https://a/',
      'https://a/x',
      'https://a:443',
      'shop.example.com',
      'https://*.a',
    ])
      expect(() => origins(text), text).to.throw('MILLRACE_CORS_ORIGINS');
  });

  it('take rates', () => {
    const rate = (text: string): unknown => settingOf('ratePerAddress', 'MILLRACE_RATE_PER_ADDRESS', text);
    expect(rate('')).to.equal('off');
    expect(rate('100/s')).to.deep.equal({ requests: 100, seconds: 1 });
    expect(rate('5000/12h')).to.deep.equal({ requests: 5000, seconds: 43_200 });
    for (const text of ['0/s', '100', '100/w', '1.5/s', '-1/s', '100/sec'])
      expect(() => rate(text), text).to.throw('expected a rate such as 100/s');
  });

  it('take ranges of proxies', () => {
    const has = (text: string, address: string): boolean =>
      settingOf('trustedProxies', 'MILLRACE_TRUSTED_PROXIES', text).has(address);
    expect(has('10.0.0.0/8,fd00::/8', '10.255.0.1')).to.equal(true);
    expect(has('10.0.0.0/8,fd00::/8', 'fd12::1')).to.equal(true);
    expect(has('10.0.0.0/8', '11.0.0.1')).to.equal(false);
    expect(has('0.0.0.0/0', '8.8.8.8')).to.equal(true);
    for (const text of ['10.0.0.0/33', 'fd00::/129', 'proxy', '10.0.0.0/', '10.0.0.0/8/8', '1.2.3.4,'])
      expect(() => has(text, ''), text).to.throw('MILLRACE_TRUSTED_PROXIES');
  });
});
