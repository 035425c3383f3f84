import { expect } from 'chai';
import { closeComponents, warmComponents } from '../../../../runtime/request/compile/component-life.js';
import type { Plan } from '../../../../runtime/request/compile/plan.js';
import { Diagnostics } from '../../../../runtime/project/config/diagnostics/diagnostics.js';
import { SourceFile } from '../../../../runtime/project/config/yaml/source.js';
import type { Component } from '../../../../runtime/ground/api/component.js';

const at = { file: new SourceFile('pipelines/a.yaml', '- use: deep\n'), start: 7, end: 11 };

/** The parts of a plan that `warmComponents` reads. */
function planOf(...components: Partial<Component>[]): Plan {
  const definition = { at, components: components.map(() => ({ use: { value: 'deep', at } })) };
  const steps = components.map((component, i) => ({ number: i + 1, use: 'deep', component }));
  return { definition, steps } as unknown as Plan;
}

describe('warming up and closing components', () => {
  it('reports a warm-up that takes too long', async () => {
    const diagnostics = new Diagnostics();
    const plan = planOf({}, { warm: () => undefined }, { warm: () => new Promise(() => undefined) });
    await warmComponents(plan, diagnostics, 20);
    expect(diagnostics.all.map(({ code, at: where, message }) => [code, where, message])).to.deep.equal([
      ['component_failed', at, '`deep` did not warm up: it took longer than 0.02 s'],
    ]);
  });

  it('reports notices of a component as warnings at its step', async () => {
    const diagnostics = new Diagnostics();
    const says: Partial<Component> = {
      warm: async ({ warn }) => {
        await Promise.resolve();
        warn('its server is down', 'start it');
      },
    };
    await warmComponents(planOf(says), diagnostics);
    expect(diagnostics.all).to.deep.equal([
      {
        severity: 'warning',
        code: 'component_warning',
        at,
        message: '`deep`: its server is down',
        help: 'start it',
      },
    ]);
  });

  it('closes all components, also if some of them fail', async () => {
    const closed: string[] = [];
    const errors = await closeComponents([
      { close: () => Promise.reject(new Error('still busy')) },
      {
        close: () => {
          throw new Error('at once');
        },
      },
      {},
      { close: () => void closed.push('last') },
    ]);
    expect(errors.map(String)).to.deep.equal(['Error: still busy', 'Error: at once']);
    expect(closed).to.deep.equal(['last']);
  });

  it('does not wait for a component that never closes', async () => {
    const hangs = { close: () => new Promise(() => undefined) } as unknown as Component;
    expect((await closeComponents([hangs], 20)).map(String)).to.deep.equal([
      'Error: it took longer than 0.02 s',
    ]);
  });
});
