import { expect } from 'chai';
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterSilence } from '../../../../runtime/ground/core/after-silence.js';

describe('afterSilence', () => {
  it('calls back after the time', async () => {
    const started = performance.now();
    await new Promise<void>((resolve) => afterSilence(30, resolve));
    expect(performance.now() - started).to.be.at.least(29);
  });

  it('does not call back once it is cancelled', async () => {
    let called = 0;
    const cancel = afterSilence(5, () => called++);
    cancel();
    await pause(40);
    expect(called).to.equal(0);
  });

  it('does not take a busy event loop for a silent server: a reply that waits in the socket counts', async () => {
    const server = createServer((socket) => socket.on('data', () => socket.write('reply'))).listen(
      0,
      '127.0.0.1',
    );
    await new Promise((resolve) => server.once('listening', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    const outcome = new Promise<string>((resolve) => {
      const cancel = afterSilence(50, () => resolve('silence'));
      socket.once('data', (data) => {
        cancel();
        resolve(String(data));
      });
    });
    socket.write('question');
    await new Promise((resolve) => setImmediate(resolve));
    for (const end = performance.now() + 200; performance.now() < end;);
    expect(await outcome).to.equal('reply');
    socket.destroy();
    server.close();
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
