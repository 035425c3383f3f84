import { expect } from 'chai';
import { OutboundError } from '../../../../runtime/ground/api/http-client.js';
import { ClientLeft } from '../../../../runtime/ground/core/deadline.js';
import { CircuitBreaker } from '../../../../runtime/language/outbound/circuit-breaker.js';

describe('the circuit breaker', () => {
  let now: number;
  let asked: number;
  let breaker: CircuitBreaker;

  beforeEach(() => {
    now = 5_000;
    asked = 0;
    breaker = new CircuitBreaker('models:8080', () => now);
  });

  /** Calls a server that answers or fails after some time. Returns the error or the answer. */
  async function ask(ms: number, error?: Error): Promise<string> {
    const answer = (): Promise<string> => {
      asked++;
      now += ms;
      return error === undefined ? Promise.resolve('answered') : Promise.reject(error);
    };
    return await breaker.run(answer).catch((thrown: unknown) => {
      return thrown instanceof OutboundError ? thrown.fault : (thrown as Error).message;
    });
  }
  const timeout = new OutboundError('timeout', 'models:8080 did not answer within 100 ms');

  async function fail(times: number, ms = 100, error: Error = timeout): Promise<void> {
    for (let i = 0; i < times; i++) await ask(ms, error);
  }

  it('fails requests to a silent server at once, and tests it once a second', async () => {
    await fail(10);
    expect(asked).to.equal(10);
    expect(await ask(0)).to.equal('circuit_open');
    now += 999;
    expect(await ask(0)).to.equal('circuit_open');
    expect(asked).to.equal(10);
    now += 1;
    expect(await ask(100, timeout)).to.equal('timeout');
    expect(await ask(0)).to.equal('circuit_open');
    now += 1_000;
    expect(await ask(0)).to.equal('answered');
    await fail(9);
    expect(await ask(0)).to.equal('answered');
  });

  it('sends one request at a time to test whether the server answers again', async () => {
    await fail(10);
    now += 1_000;
    let answer: (text: string) => void = () => undefined;
    const probe = breaker.run(() => new Promise<string>((resolve) => (answer = resolve)));
    now += 60_000;
    expect(await ask(0)).to.equal('circuit_open');
    answer('answered');
    expect(await probe).to.equal('answered');
    expect(await ask(0)).to.equal('answered');
  });

  it('counts a server as silent if all callers give up on it', async () => {
    await fail(10, 100, new Error('the time limit of 100 ms is over'));
    expect(await ask(0)).to.equal('circuit_open');
  });

  it('does not count clients that leave early, and tests again at once after one', async () => {
    await fail(20, 100, new ClientLeft());
    expect(await ask(0)).to.equal('answered');
    await fail(10, 1_000, new ClientLeft());
    expect(await ask(0)).to.equal('circuit_open');
    now += 1_000;
    await fail(1, 100, new ClientLeft());
    expect(await ask(0)).to.equal('answered');
  });

  it('stays closed if failures are few, at the same moment, or between answers', async () => {
    await fail(9);
    expect(await ask(0)).to.equal('answered');
    await fail(500, 1);
    expect(asked).to.equal(510);
    expect(await ask(0)).to.equal('answered');
    for (let i = 0; i < 50; i++) {
      await ask(100, timeout);
      expect(await ask(0, new OutboundError('too_large', 'an error answer'))).to.equal('too_large');
    }
    expect(await ask(0)).to.equal('answered');
  });
});
