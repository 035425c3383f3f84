import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { AddressRanges } from '../../../../../runtime/ground/core/address-ranges.js';
import { clientAddress, networkOf } from '../../../../../runtime/serve/http/edge/client-address.js';

const PROXIES = AddressRanges.parse('10.0.0.0/8, 192.0.2.7, fd00::/8') as AddressRanges;

function seen(peer: string, forwarded?: string): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return clientAddress({ socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage, PROXIES);
}

describe('clientAddress', () => {
  it('is that of the connection, unless it is a trusted proxy', () => {
    expect(seen('203.0.113.9')).to.equal('203.0.113.9');
    expect(seen('203.0.113.9', '198.51.100.1')).to.equal('203.0.113.9');
    expect(seen('::ffff:203.0.113.9')).to.equal('203.0.113.9');
    expect(seen('10.1.1.1')).to.equal('10.1.1.1');
  });

  it('is the last address of X-Forwarded-For that is not a trusted proxy', () => {
    expect(seen('10.1.1.1', '198.51.100.1')).to.equal('198.51.100.1');
    expect(seen('::ffff:10.1.1.1', '1.1.1.1, 198.51.100.1,10.2.2.2 ')).to.equal('198.51.100.1');
    expect(seen('fd00::1', '198.51.100.1:443, 192.0.2.7')).to.equal('198.51.100.1');
    expect(seen('10.1.1.1', '[2001:db8::1]:443')).to.equal('2001:db8::1');
    expect(seen('10.1.1.1', '10.3.3.3, 10.2.2.2')).to.equal('10.3.3.3');
  });

  it('stops at what is no address', () => {
    expect(seen('10.1.1.1', 'unknown')).to.equal('10.1.1.1');
    expect(seen('10.1.1.1', '198.51.100.1, _hidden, 10.2.2.2')).to.equal('10.2.2.2');
    expect(seen('10.1.1.1', '')).to.equal('10.1.1.1');
  });
});

describe('networkOf', () => {
  it('is the address of IPv4, and the /64 network of IPv6', () => {
    expect(networkOf('203.0.113.9')).to.equal('203.0.113.9');
    for (const address of [
      '2001:db8:1:2::1',
      '2001:0DB8:0001:2:ffff::',
      '2001:db8:1:2:3:4:5:6',
      '2001:db8:1:2:3:4:5.6.7.8',
    ])
      expect(networkOf(address), address).to.equal('2001:db8:1:2::/64');
    expect(networkOf('::1')).to.equal('0:0:0:0::/64');
    expect(networkOf('fe80::1%eth0')).to.equal('fe80:0:0:0::/64');
    expect(networkOf('::ffff:0:1.2.3.4')).to.equal('0:0:0:0::/64');
  });
});
