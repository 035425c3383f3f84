import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { freePort } from '../../../../runtime/cli/demo/free-port.js';
import { millrace } from '../../../support/command-line.js';

describe('millrace demo', () => {
  it('ranks, and prints the page, the request and the address of the API reference, within 80 columns', async () => {
    // The keys of the environment are those of another service.
    const env = { MILLRACE_KEYS: '/no/such/keys.json' };
    const { code, stdout } = await millrace(['demo', '--once', '--port', '0'], { env });
    expect(code).to.equal(0);
    expect(stdout)
      .to.match(/^5,000 products/)
      .and.to.match(/\n1 +\d+\.\d{3} /);
    expect(stdout)
      .to.match(/\ncurl -s http:\/\/127\.0\.0\.1:\d+\/api\/v1\/ranking/)
      .and.to.contain('/redoc')
      .and.to.contain('/workbench?pipeline=search&q=wireless+headphones\n')
      .and.to.contain('/api/v1/search?q=wireless+headphones\n');
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).to.be.at.most(80);
  });

  it('uses the next free port if a port is in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const other = await freePort('127.0.0.1', port);
    expect(other).not.to.equal(port);
    expect(other).to.satisfy((value: number) => value === 0 || value > port);
    await new Promise((resolve) => server.close(resolve));
  });
});
