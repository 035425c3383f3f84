import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TurnQueue } from '../../../../../runtime/serve/http/admission/turn-queue.js';
import type { RequestClass } from '../../../../../runtime/serve/http/admission/request-class.js';

describe('TurnQueue', () => {
  const none = (): number => 0;

  /** Enters requests, and gives their names in the order in which they begin. */
  function orderOf(requests: readonly (readonly [RequestClass, string])[]): Promise<string[]> {
    const queue = new TurnQueue(none);
    const begun: string[] = [];
    return new Promise((resolve) => {
      for (const [name, id] of requests)
        queue.enter({
          class: name,
          since: performance.now(),
          begin: () => {
            if (begun.push(id) === requests.length) resolve(begun);
            return true;
          },
        });
    });
  }

  it('begins the most important class first, and the oldest of a class', async () => {
    const order = await orderOf([
      ['upload', 'u1'],
      ['ranking', 'r1'],
      ['feedback', 'f1'],
      ['ranking', 'r2'],
      ['online_features', 'o1'],
    ]);
    expect(order).to.deep.equal(['r1', 'r2', 'o1', 'f1', 'u1']);
  });

  it('begins a ranking at once if there is nothing else to do, but only one in a turn', async () => {
    let inProgress = 0;
    const queue = new TurnQueue(() => inProgress);
    const begun: string[] = [];
    const enter = (name: RequestClass, id: string): void =>
      queue.enter({ class: name, since: performance.now(), begin: () => begun.push(id) > 0 });
    enter('ranking', 'first');
    expect(begun).to.deep.equal(['first']);
    enter('ranking', 'second');
    expect(begun).to.deep.equal(['first']);
    while (queue.length > 0) await nextTurn();
    await nextTurn();
    enter('upload', 'upload');
    expect(begun).to.deep.equal(['first', 'second']);
    while (queue.length > 0) await nextTurn();
    inProgress = 1;
    enter('ranking', 'beside another');
    expect(begun).to.deep.equal(['first', 'second', 'upload']);
    inProgress = 0;
    while (queue.length > 0) await nextTurn();
    await nextTurn();
    enter('ranking', 'last');
    expect(begun.slice(3)).to.deep.equal(['beside another', 'last']);
    queue.connectionAccepted();
    await nextTurn();
    enter('ranking', 'after a new connection');
    expect(begun).to.have.length(5);
  });

  it('keeps the order of many requests', async () => {
    const names = Array.from({ length: 500 }, (_, i) => String(i));
    expect(await orderOf(names.map((name) => ['ranking', name] as const))).to.deep.equal(names);
  });

  it('does not count a request that is over, and goes on with the next one', async () => {
    const queue = new TurnQueue(none);
    const began = new Promise<string>((resolve) => {
      queue.enter({ class: 'ranking', since: 0, begin: () => false });
      queue.enter({
        class: 'ranking',
        since: 0,
        begin: () => {
          resolve('second');
          return true;
        },
      });
    });
    expect(await began).to.equal('second');
    expect(queue.length).to.equal(0);
  });

  it('estimates the wait of a class by what is before it, and tells a standing queue from a burst', async () => {
    const queue = new TurnQueue(none);
    const work = (): boolean => {
      for (const end = performance.now() + 4; performance.now() < end;);
      return true;
    };
    for (let i = 0; i < 60; i++) queue.enter({ class: 'ranking', since: performance.now(), begin: work });
    for (let i = 0; i < 20; i++) queue.enter({ class: 'upload', since: performance.now(), begin: work });
    expect(queue.isStanding(performance.now())).to.equal(false);
    while (queue.length > 40) await nextTurn();
    expect(queue.isStanding(performance.now())).to.equal(true);
    const [ranking, upload] = [queue.waitOf('ranking'), queue.waitOf('upload')];
    expect(ranking).to.be.above(20);
    expect(upload / ranking).to.be.closeTo(queue.length / (queue.length - 20), 0.01);
    expect(queue.waitOf('health')).to.equal(0);
    while (queue.length > 0) await nextTurn();
    expect(queue.isStanding(performance.now())).to.equal(false);
  });
});
