import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  Admission,
  type Admitted,
  type RouteLoad,
} from '../../../../../runtime/serve/http/admission/admission.js';

const WORK_MS = 2;

describe('Admission', () => {
  const load: RouteLoad = { class: 'ranking', limitMs: 10_000, serviceMs: WORK_MS };

  /** Lets so many requests wait that each take 2 ms, and calls `look` when the queue has stood for a while. */
  async function standing(admission: Admission, count: number, look: (now: number) => void): Promise<void> {
    let begun = 0;
    const enter = (): void => {
      const now = performance.now();
      const request: Admitted = { load, arrived: now, headAt: now, begunAt: 0, isOver: false };
      admission.enter(request);
      admission.takeTurn(request, () => {
        for (const end = performance.now() + WORK_MS; performance.now() < end;);
        admission.leave(request, true);
        begun++;
        // A client that waited for this answer sends again.
        if (begun < 100) enter();
      });
    };
    for (let i = 0; i < count; i++) enter();
    while (begun < 90) await nextTurn();
    look(performance.now());
    while (admission.waiting > 0) await nextTurn();
  }

  it('does not refuse clients that each wait for an answer, up to 64, while they are answered in time', async () => {
    const admission = new Admission();
    await standing(admission, 60, (now) => {
      expect(admission.waiting).to.be.within(50, 63);
      expect(admission.refuses(load, now, now)).to.equal(undefined);
      expect(admission.refuses({ ...load, limitMs: 60 }, now, now)).to.equal('deadline');
    });
  });

  it('refuses what would wait longer than the limit behind a standing queue', async () => {
    const admission = new Admission();
    await standing(admission, 100, (now) => {
      expect(admission.waiting).to.be.above(63);
      expect(admission.refuses(load, now, now)).to.equal('queue');
      expect(admission.refuses({ ...load, class: 'health' }, now, now)).to.equal(undefined);
    });
  });

  it('sees a storm only if most requests come with a connection of their own', async () => {
    for (const [each, isStorm] of [
      [1, true],
      [2, false],
    ] as const) {
      const admission = new Admission();
      for (let i = 0; i < 2_000; i++) {
        if (i % each === 0) admission.connectionAccepted();
        admission.arrived(performance.now());
      }
      expect(admission.isStorm(performance.now())).to.equal(false);
      await standing(admission, 100, (now) => expect(admission.isStorm(now)).to.equal(isStorm));
      expect(admission.isStorm(performance.now())).to.equal(false);
    }
  });
});
