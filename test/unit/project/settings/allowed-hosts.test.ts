import { expect } from 'chai';
import { AllowedHosts } from '../../../../runtime/project/settings/allowed-hosts.js';

describe('the hosts where models may be called', () => {
  const allows = (hosts: string, url: string): boolean | undefined =>
    AllowedHosts.parse(hosts)?.allows(new URL(url));

  it('are empty by default', () => {
    expect(allows('', 'http://models')).to.be.false;
    expect(allows('models', 'http://other')).to.be.false;
    expect(allows('models', 'http://models.evil.example')).to.be.false;
    expect(allows('models.example', 'http://sub.models.example')).to.be.false;
  });

  it('allow one port, or any port', () => {
    expect(allows('models:8080, triton', 'http://models:8080/x')).to.be.true;
    expect(allows('models:8080', 'http://models')).to.be.false;
    expect(allows('models:80', 'http://models')).to.be.true;
    expect(allows('models:443', 'https://models')).to.be.true;
    expect(allows('models:443', 'http://models')).to.be.false;
    expect(allows('Models', 'http://MODELS:1')).to.be.true;
    expect(allows('[::1]:8080', 'http://[::1]:8080')).to.be.true;
  });

  it('match every spelling of an address, including the spelling of messages', () => {
    expect(allows('[0:0:0:0:0:0:0:1]:80', 'http://[::1]')).to.be.true;
    expect(allows('[::1]', 'http://[0:0::0001]')).to.be.true;
    expect(allows('127.0.0.1', 'http://0x7f.1')).to.be.true;
    expect(allows('127.0.0.1', 'http://[::ffff:127.0.0.1]')).to.be.false;
    expect(allows('models.internal.:80', 'http://models.internal.')).to.be.true;
    expect(allows('models.internal', 'http://models.internal.')).to.be.false;
    expect(allows('models', 'http://models@evil.example')).to.be.false;
  });

  it('cannot be parsed from any other text', () => {
    for (const text of [
      'http://models',
      'models:0',
      'models:65536',
      '*',
      'a,,b',
      'models/x',
      'a b',
      '[:::]',
      '1.2.3.256',
    ])
      expect(AllowedHosts.parse(text), text).to.be.undefined;
  });
});
