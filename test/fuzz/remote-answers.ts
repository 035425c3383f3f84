import { expect } from 'chai';
import fc from 'fast-check';
import { plugin } from '../../plugins/open_inference/index.js';
import type { OutboundHttp } from '../../runtime/ground/api/http-client.js';
import type { ModelComponent } from '../../runtime/ground/api/component.js';
import { createComponent, NO_NOTICES } from '../support/create-component.js';
import { addingServers, sumOfRows } from '../support/inference.js';
import { compute, FakeStep } from '../support/step-input.js';
import { always, type FuzzTarget } from './fuzz-target.js';
import { byteEdits } from './mutate-bytes.js';
import { jsonEdits } from './mutate-json.js';

const METADATA = {
  name: 'sum',
  versions: ['1'],
  platform: 'onnx',
  inputs: [{ name: 'features', datatype: 'FP32', shape: [-1, 1] }],
  outputs: [{ name: 'sum', datatype: 'FP64', shape: [-1, 1] }],
};

/** Messages of a JavaScript engine. They show that an answer was not checked. */
const INTERNAL =
  /Cannot read|Invalid (typed )?array length|is not a function|not iterable|undefined|stack size|\[object/;

/** Damages answers of model servers. The step fails with a proper error, or gives finite numbers for every row. */
export const remoteAnswers: FuzzTarget = {
  name: 'answers of model servers',
  quick: 125,
  open: () => {
    const right = sumOfRows({ inputs: [{ name: 'features', shape: [3, 1], data: [1, 2, 3] }] });
    const answers = [
      ['infer', right],
      ['metadata', METADATA],
    ] as const;
    const cases = fc.constantFrom(...answers).chain(([asked, answer]) =>
      fc
        .oneof(
          {
            weight: 5,
            arbitrary: jsonEdits.map(({ what, apply }) => ({ what, body: Buffer.from(apply(answer)) })),
          },
          {
            weight: 1,
            arbitrary: byteEdits.map(({ what, apply }) => ({
              what,
              body: apply(Buffer.from(JSON.stringify(answer))),
            })),
          },
        )
        .map(({ what, body }) => ({ asked, body, what: `${asked}: ${what}` })),
    );
    return Promise.resolve({
      run: always(cases, async ({ asked, body }) => {
        const step = new FakeStep(3);
        const inputs = { features: step.number([1, 2, 3]) };
        const model = await created(inputs, (path) => {
          const isInfer = path.endsWith('/infer');
          if (isInfer === (asked === 'infer')) return body;
          return Buffer.from(JSON.stringify(isInfer ? right : METADATA));
        });
        await failing(async () => model.warm?.(NO_NOTICES));
        await failing(async () => {
          for (const cell of (await compute(model, step))['score'] ?? [])
            expect(cell).to.satisfy(Number.isFinite);
        });
        await model.close?.();
      }),
    });
  },
};

/** Checks that a failure has a proper message. */
async function failing(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Error) || error.name === 'AssertionError') throw error;
    expect(error.message.trim()).not.to.equal('');
    expect(error.message).not.to.match(INTERNAL);
    expect(error.message.length).to.be.below(2000);
  }
}

async function created(inputs: object, answer: (path: string) => Buffer): Promise<ModelComponent> {
  const http: OutboundHttp = {
    open: () => ({
      request: ({ path }) =>
        Promise.resolve({ status: 200, contentType: 'application/json', body: answer(path) }),
      close: () => Promise.resolve(),
    }),
    guard: (url) => addingServers.guard(url),
  };
  const options = {
    url: 'http://model',
    model: 'sum',
    batch: 256,
    connections: 8,
    max_bytes: 100_000,
    check: 'reachable',
    timeout: '10s',
    inputs,
    outputs: { score: 'sum' },
  };
  return (await createComponent(plugin, options, undefined, http)) as ModelComponent;
}
