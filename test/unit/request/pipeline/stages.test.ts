import { expect } from 'chai';
import { StageRunner } from '../../../../runtime/request/pipeline/stage-runner.js';
import { StageClock, STAGES } from '../../../../runtime/request/pipeline/stages.js';

function compute(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('the stage clock', () => {
  it('has a time for each stage, in order', () => {
    const clock = new StageClock();
    for (const { name } of STAGES) clock.end(name);
    expect(Object.keys(clock.ms)).to.deep.equal(STAGES.map(({ name }) => name));
  });

  it('counts work of another stage for that stage, not for the current one', () => {
    const clock = new StageClock();
    clock.end('read');
    clock.count('features', () => compute(30));
    clock.end('hydrate');
    clock.end('features');
    expect(clock.ms.features).to.be.within(30, 200);
    expect(clock.ms.hydrate).to.be.below(25);
  });

  it('rejects a stage that is not next', () => {
    const clock = new StageClock();
    expect(() => clock.end('hydrate')).to.throw('stage hydrate ended, but expected read');
  });
});

describe('the stages of a request', () => {
  it('end a request at its deadline, even if a stage computes without a pause', async () => {
    const stages = new StageRunner(10, {}, undefined);
    try {
      const error: unknown = await stages.run('read', () => compute(30)).catch((reason: unknown) => reason);
      expect(error).to.include({ code: 'deadline_exceeded' });
      expect(stages.clock.ms.read).to.be.above(29);
    } finally {
      stages.close();
    }
  });
});
