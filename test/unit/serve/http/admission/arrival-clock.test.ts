import { expect } from 'chai';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { ArrivalClock } from '../../../../../runtime/serve/http/admission/arrival-clock.js';

describe('ArrivalClock', () => {
  it('estimates how long data waited in a socket while the event loop was busy', async () => {
    const clock = new ArrivalClock();
    const lags: number[] = [];
    const server = createServer((socket) =>
      socket.on('data', () => {
        const now = performance.now();
        lags.push(now - clock.arrived(now));
        socket.write('x');
      }),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(client, 'connect');
    after(() => {
      client.destroy();
      server.close();
    });
    await pause(30);
    client.write('idle');
    await once(client, 'data');
    expect(lags[0]).to.be.below(15);

    client.write('busy');
    // The data is in the socket from here on, and nothing reads it.
    for (const end = performance.now() + 200; performance.now() < end;);
    await once(client, 'data');
    expect(lags[1]).to.be.within(50, 220);
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
