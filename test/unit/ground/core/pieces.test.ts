import { expect } from 'chai';
import { beginUrgent, callInBackground, inBackground } from '../../../../runtime/ground/core/background.js';
import { atOnce, inTurns, OWN_SLICE, soon, type Pieces } from '../../../../runtime/ground/core/pieces.js';

/** Each piece blocks the event loop for longer than a slice. */
function* work(pieces: number, fails = false): Pieces<string> {
  for (let piece = 0; piece < pieces; piece++) {
    for (const until = performance.now() + 6; performance.now() < until;);
    yield;
  }
  if (fails) throw new Error('no more');
  return 'done';
}

describe('work in pieces', () => {
  it('lets other work run between long pieces', async () => {
    let others = 0;
    let next = setImmediate(function count() {
      others++;
      next = setImmediate(count);
    });
    expect(await inTurns(work(5))).to.equal('done');
    clearImmediate(next);
    expect(others).to.be.at.least(5);
  });

  it('gets one slice per turn, however many jobs there are', async () => {
    let turns = 0;
    let next = setImmediate(function count() {
      turns++;
      next = setImmediate(count);
    });
    await Promise.all([inTurns(work(3)), inTurns(work(3)), inTurns(work(3))]);
    clearImmediate(next);
    expect(turns).to.be.at.least(9);
  });

  for (const [name, divide] of Object.entries({ inTurns, soon, inBackground }))
    it(`gives a piece a slice of its own if it asks for one, in ${name}`, async () => {
      let turns = 0;
      let next = setImmediate(function count() {
        turns++;
        next = setImmediate(count);
      });
      const turnOf: number[] = [];
      await divide(
        (function* (): Pieces<undefined> {
          for (let piece = 0; piece < 4; piece++) {
            yield OWN_SLICE;
            turnOf.push(turns);
          }
        })(),
      );
      clearImmediate(next);
      expect(new Set(turnOf)).to.have.property('size', 4);
    });

  it('shares a turn if it is short', async () => {
    let turns = 0;
    let next = setImmediate(function count() {
      turns++;
      next = setImmediate(count);
    });
    await Promise.all(Array.from({ length: 100 }, () => inTurns(work(0))));
    clearImmediate(next);
    expect(turns).to.be.below(50);
  });

  it('ends when its check throws, and other work continues', async () => {
    let slices = 0;
    const checked = inTurns(work(100), () => {
      if (++slices === 3) throw new Error('too late');
    }).catch((one: unknown) => one);
    expect(await inTurns(work(5))).to.equal('done');
    expect(await checked)
      .to.be.an('error')
      .with.property('message', 'too late');
    expect(slices).to.equal(3);
  });

  it('begins at once where it is short, and goes on in turns where it is long', async () => {
    expect(soon(work(0))).to.equal('done');
    const long = soon(work(3));
    expect(long).to.be.a('promise');
    expect(await long).to.equal('done');
  });

  it('can be done at once', () => {
    let others = 0;
    const next = setImmediate(() => others++);
    expect(atOnce(work(2))).to.equal('done');
    expect(others).to.equal(0);
    clearImmediate(next);
  });

  it('rejects if the work throws', async () => {
    const error = await inTurns(work(1, true)).catch((one: unknown) => one);
    expect(error).to.be.an('error').with.property('message', 'no more');
  });
});

describe('work in the background', () => {
  /** Pieces of about a millisecond; tells when it ends. */
  function* named(name: string, pieces: number, order: string[]): Pieces<void> {
    for (let piece = 0; piece < pieces; piece++) {
      for (const until = performance.now() + 1; performance.now() < until;);
      yield;
    }
    order.push(name);
  }

  it('finishes long jobs one after another, and short ones between them', async () => {
    const order: string[] = [];
    const long = ['a', 'b', 'c'].map((name) => inBackground(named(name, 150, order)));
    const short = (async () => {
      for (const name of ['1', '2', '3']) await inBackground(named(name, 2, order));
    })();
    await Promise.all([...long, short]);
    expect(order.filter((name) => name > '9')).to.deep.equal(['a', 'b', 'c']);
    expect(order.indexOf('3')).to.be.below(order.indexOf('a'));
  });

  it('rests most of the time while something urgent is in flight', async () => {
    const order: string[] = [];
    const end = beginUrgent();
    const started = performance.now();
    await inBackground(named('a', 30, order));
    expect(performance.now() - started).to.be.above(90);
    end();
  });

  it('fails as the work does', async () => {
    const error = await inBackground(work(1, true)).catch((one: unknown) => one);
    expect(error).to.be.an('error').with.property('message', 'no more');
  });

  it('calls a function as one piece, in order with short jobs', async () => {
    const order: string[] = [];
    const first = inBackground(named('1', 0, order));
    const called = callInBackground(() => order.push('2'));
    expect(order).to.deep.equal([]);
    expect(await called).to.equal(2);
    await first;
    expect(order).to.deep.equal(['1', '2']);
  });

  it('fails as a function does', async () => {
    const failing = callInBackground(() => {
      throw new Error('no call');
    });
    const error = await failing.catch((one: unknown) => one);
    expect(error).to.be.an('error').with.property('message', 'no call');
  });
});
