import { expect } from 'chai';
import { INTERACTION_TYPES, type InteractionEvents } from '../../../../runtime/ground/api/interactions.js';
import { OptionError } from '../../../../runtime/ground/api/option-error.js';
import type { FeatureComponent } from '../../../../runtime/ground/api/component.js';
import type { Input } from '../../../../runtime/ground/api/input.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import { noEvents } from '../../../../runtime/state/store/codec/history-record.js';
import { plugin } from '../../../../plugins/interaction/index.js';
import { createComponent } from '../../../support/create-component.js';
import { absent, compute, FakeStep } from '../../../support/step-input.js';

interface Happened {
  readonly type: (typeof INTERACTION_TYPES)[number];
  /** Times in seconds before now; now is 0. */
  readonly age: number;
  readonly texts: readonly string[];
  readonly quantity?: number;
}

/** Columns of the given events, oldest first. */
function eventsOf(happened: readonly Happened[]): InteractionEvents {
  const texts = [...new Set(happened.flatMap((one) => one.texts))];
  const offsets = [0];
  for (const one of happened) offsets.push((offsets.at(-1) ?? 0) + one.texts.length);
  return {
    status: Status.present,
    count: happened.length,
    types: Uint8Array.from(happened, ({ type }) => INTERACTION_TYPES.indexOf(type)),
    times: Float64Array.from(happened, ({ age }) => -1000 * age),
    quantities: Uint16Array.from(happened, ({ quantity }) => quantity ?? 1),
    offsets: Int32Array.from(offsets),
    values: Int32Array.from(happened.flatMap((one) => one.texts.map((text) => texts.indexOf(text)))),
    texts,
  };
}

const ALL = {
  seen: { event: 'impression', window: '1m', value: 'count' },
  units: { event: ['cart', 'order'], window: '1h', value: 'items' },
  bought: { event: 'order', window: '1h', value: 'has' },
  ago: { event: ['click', 'order'], window: '1h', value: 'seconds_since' },
};

describe('interaction', () => {
  async function create(step: FakeStep, by: Input, outputs: object = ALL): Promise<FeatureComponent> {
    const of = step.requestText('u');
    return (await createComponent(plugin, { of, with: by, outputs })) as FeatureComponent;
  }

  it('measures the events of each value within each window', async () => {
    const step = new FakeStep(3);
    step.events = eventsOf([
      { type: 'order', age: 3600, texts: ['a'], quantity: 9 },
      { type: 'order', age: 3599, texts: ['a'], quantity: 2 },
      { type: 'impression', age: 60, texts: ['a'] },
      { type: 'cart', age: 59, texts: ['a'], quantity: 3 },
      { type: 'click', age: 50, texts: ['b'] },
      { type: 'impression', age: 10, texts: ['b'] },
      { type: 'click', age: 9, texts: ['b'] },
      { type: 'impression', age: -5, texts: ['b'] },
    ]);
    const component = await create(step, step.text(['a', 'b', 'c']));
    expect(component.outputs).to.deep.equal({
      seen: 'number',
      units: 'number',
      bought: 'bool',
      ago: 'number',
    });
    expect(await compute(component, step)).to.deep.equal({
      seen: [0, 2, 0],
      units: [5, 0, 0],
      bought: [1, 0, 0],
      ago: [3599, 9, absent],
    });
  });

  it('uses the largest count and the newest event of the values of a list', async () => {
    const step = new FakeStep(4);
    step.events = eventsOf([
      { type: 'order', age: 30, texts: ['x'] },
      { type: 'impression', age: 20, texts: ['x', 'y'] },
      { type: 'impression', age: 10, texts: ['y'] },
      { type: 'click', age: 5, texts: ['z'] },
    ]);
    const component = await create(step, step.texts([['x', 'y'], ['x', 'z', 'x'], [], ['none']]));
    const { seen, bought, ago } = await compute(component, step);
    expect(seen).to.deep.equal([2, 1, 0, 0]);
    expect(bought).to.deep.equal([1, 1, 0, 0]);
    expect(ago).to.deep.equal([30, 5, absent, absent]);
  });

  it('adds the counts of all values of a list with `lists: sum`, each value once', async () => {
    const step = new FakeStep(3);
    step.events = eventsOf([
      { type: 'impression', age: 20, texts: ['x', 'y'] },
      { type: 'impression', age: 10, texts: ['y'] },
    ]);
    const of = step.requestText('u');
    const by = step.texts([
      ['x', 'y', 'x', 'none'],
      ['y', 'y'],
      ['x', 'none'],
    ]);
    const outputs = { seen: ALL.seen };
    const component = (await createComponent(plugin, {
      of,
      with: by,
      lists: 'sum',
      outputs,
    })) as FeatureComponent;
    expect((await compute(component, step))['seen']).to.deep.equal([3, 2, 1]);
  });

  it('sets the status of a candidate without a count, and writes only its own rows', async () => {
    const step = new FakeStep(5, [1, 3, 4]);
    const missing = { status: Status.missing_entity };
    step.events = eventsOf([{ type: 'impression', age: 1, texts: ['a'] }]);
    const by = step.text(['a', 'a', 'a', missing, { status: Status.null }]);
    const { seen } = await compute(await create(step, by), step);
    expect(seen).to.deep.equal([absent, 1, absent, missing, { status: Status.null }]);
  });

  it('sets the status of a missing history', async () => {
    for (const status of [Status.absent, Status.failed]) {
      const step = new FakeStep(2);
      step.events = noEvents(status);
      const outputs = await compute(await create(step, step.text(['a', 'b'])), step);
      for (const cells of Object.values(outputs)) expect(cells).to.deep.equal([{ status }, { status }]);
    }
  });

  it('refuses kinds of feedback that the project does not declare, with the nearest name', async () => {
    const step = new FakeStep(1);
    const outputs = {
      one: { event: 'clik', window: '1h', value: 'count' },
      two: { event: ['click', 'share'], window: '1h', value: 'count' },
    };
    const error: unknown = await create(step, step.text(['a']), outputs).catch((caught: unknown) => caught);
    const faults = error instanceof AggregateError ? (error.errors as OptionError[]) : [];
    expect(faults.map(({ path, message, help }) => [path, message, help])).to.deep.equal([
      [['outputs', 'one', 'event'], 'there is no kind of feedback `clik`', 'did you mean `click`?'],
      [
        ['outputs', 'two', 'event', 1],
        'there is no kind of feedback `share`',
        'the kinds are impression, click, cart, order; `events:` in millrace.yaml declares them',
      ],
    ]);
  });

  it('refuses numbers and invalid windows at their place', async () => {
    const step = new FakeStep(1);
    const place = async (by: Input, window: string): Promise<readonly unknown[]> => {
      const outputs = { x: { event: 'click', window, value: 'count' } };
      const error: unknown = await create(step, by, outputs).catch((caught: unknown) => caught);
      return error instanceof OptionError ? error.path : [];
    };
    expect(await place(step.number([1]), '1h')).to.deep.equal(['with']);
    for (const window of ['0s', '1', 'week', '367d', '-1h'])
      expect(await place(step.text(['a']), window), window).to.deep.equal(['outputs', 'x', 'window']);
  });
});
