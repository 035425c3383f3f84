import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import { Deadline } from '../../../../runtime/ground/core/deadline.js';

const FAR = 600_000;

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  return error instanceof MillraceError ? error.code : String(error);
}

describe('Deadline', () => {
  it('returns the result of the work, or its error', async () => {
    const deadline = new Deadline(FAR);
    expect(await deadline.within(Promise.resolve(7))).to.equal(7);
    expect(await codeOf(deadline.within(Promise.reject(new Error('its own'))))).to.equal('Error: its own');
    deadline.end();
  });

  it('ends work that never settles', async () => {
    const deadline = new Deadline(1);
    expect(await codeOf(deadline.within(new Promise(() => undefined)))).to.equal('deadline_exceeded');
    expect(() => {
      deadline.check();
    }).to.throw(MillraceError);
    deadline.end();
  });

  it('ends by the clock if the event loop could not run its timer', () => {
    const deadline = new Deadline(20, { started: performance.now() - 10 });
    deadline.check();
    const end = performance.now() + 15;
    while (performance.now() < end);
    expect(() => {
      deadline.check();
    }).to.throw(MillraceError, 'the time limit of 20 ms is over');
    expect(deadline.signal.aborted).to.equal(true);
    deadline.end();
  });

  it('ends when it is aborted, and ends its parts', async () => {
    const deadline = new Deadline(FAR);
    const part = new Deadline(FAR, { parent: deadline });
    const works = [deadline, part].map((one) => one.within(new Promise(() => undefined)));
    const early = deadline.signal;
    deadline.abort(new MillraceError('store_unavailable', 'gone'));
    deadline.abort(new Error('ignored, since it is over'));
    expect(await Promise.all(works.map(codeOf))).to.deep.equal(['store_unavailable', 'store_unavailable']);
    expect([early, part.signal].map(({ aborted }) => aborted)).to.deep.equal([true, true]);
    expect(part.signal.reason).to.equal(early.reason);
    for (const one of [deadline, part]) one.end();
  });

  it('starts over if its parent is over', () => {
    const parent = new Deadline(FAR);
    parent.abort(new MillraceError('deadline_exceeded', 'gone'));
    const part = new Deadline(FAR, { parent });
    expect(() => {
      part.check();
    }).to.throw(MillraceError, 'gone');
    for (const one of [parent, part]) one.end();
  });

  it('is over with its parent, also if its timer starts late', async () => {
    const gone = new MillraceError('deadline_exceeded', 'gone');
    const parent = new Deadline(FAR);
    const [checked, waiting, late] = [1, 2, 3].map(() => new Deadline(FAR, { parent, isLazy: true }));
    const work = codeOf(waiting?.within(new Promise(() => undefined)) ?? Promise.resolve());
    parent.abort(gone);
    expect(() => checked?.check()).to.throw(MillraceError, 'gone');
    expect(await work).to.equal('deadline_exceeded');
    expect(late?.signal.reason).to.equal(gone);
    for (const one of [parent, checked, waiting, late]) one?.end();
  });

  it('handles the rejection of work that starts too late', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    // Mocha's own listener would end the run here.
    const listeners = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', note);
    try {
      const deadline = new Deadline(FAR);
      deadline.abort(new MillraceError('deadline_exceeded', 'over'));
      const work = deadline.within(Promise.reject(new Error('also too late')));
      expect(await codeOf(work)).to.equal('deadline_exceeded');
      await nextTurn();
      expect(unhandled).to.deep.equal([]);
      deadline.end();
    } finally {
      process.removeAllListeners('unhandledRejection');
      for (const listener of listeners) process.on('unhandledRejection', listener);
    }
  });

  it('accepts any amount of concurrent work, without a leak warning', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    try {
      const deadline = new Deadline(FAR);
      await Promise.all(Array.from({ length: 50 }, () => deadline.within(nextTurn())));
      expect(warnings).to.deep.equal([]);
      deadline.end();
    } finally {
      process.off('warning', note);
    }
  });

  it('leaves its parent once the request is answered', () => {
    const parent = new Deadline(FAR);
    const part = new Deadline(FAR, { parent });
    part.end();
    parent.abort(new Error('late'));
    expect(part.signal.aborted).to.equal(false);
    parent.end();
  });
});
