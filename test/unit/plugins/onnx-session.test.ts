import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { OnnxSession } from '../../../plugins/onnx/session.js';
import { withFiles } from '../../support/temporary-files.js';
import { until } from '../../support/until.js';

/** The input number says how the model's thread ends. Any other number is returned. */
const ENDS = { exits: 1, throws: 2, exitsOnceItHasAnswered: 3 } as const;

/** Replaces onnxruntime-node, so that these tests run without it. */
const RUNTIME = `
const value = { name: 'x', isTensor: true, type: 'float32', shape: ['N'] };
class Tensor { constructor(type, data, dims) { Object.assign(this, { type, data, dims }); } }
const session = {
  inputMetadata: [value],
  outputMetadata: [{ ...value, name: 'y' }],
  async run({ x }) {
    switch (x.data[0]) {
      case ${ENDS.exits}: process.exit();
      case ${ENDS.throws}: setImmediate(() => { throw new Error('the runtime broke'); }); return new Promise(() => {});
      case ${ENDS.exitsOnceItHasAnswered}: setImmediate(() => process.exit());
    }
    return { y: x };
  },
};
module.exports = { Tensor, InferenceSession: { create: async () => session } };
`;

describe('the thread of an onnx model', () => {
  async function withSession(use: (session: OnnxSession) => Promise<void>): Promise<void> {
    await withFiles({ 'runtime.cjs': RUNTIME }, async (root) => {
      const start = { modulePath: join(root, 'runtime.cjs'), model: new Uint8Array(), threads: 1 };
      const session = await OnnxSession.open(start);
      try {
        await use(session);
      } finally {
        await session.close();
      }
    });
  }

  async function ask(session: OnnxSession, number: number): Promise<unknown[]> {
    const x = { name: 'x', type: 'float32', shape: [1], data: Float32Array.of(number) };
    const [y] = await session.run([x], ['y'], new AbortController().signal);
    return [...(y?.data ?? [])];
  }

  const faultOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      (value) => expect.fail(`it answered ${JSON.stringify(value)}`),
      (error: unknown) => (error as Error).message,
    );

  it('fails only the running batch when it ends; later batches get a new thread', async () => {
    await withSession(async (session) => {
      const reasons = {
        [ENDS.exits]: 'the thread of the model ended',
        [ENDS.throws]: 'the runtime broke',
      };
      for (const [number, reason] of Object.entries(reasons)) {
        expect(await ask(session, 10)).to.deep.equal([10]);
        const running = faultOf(ask(session, Number(number)));
        const waiting = ask(session, 11);
        expect(await running).to.equal(reason);
        expect(await waiting).to.deep.equal([11]);
        expect(await ask(session, 12)).to.deep.equal([12]);
      }
    });
  });

  it('may end between runs', async () => {
    await withSession(async (session) => {
      for (const pauseMs of [0, 0, 50]) {
        expect(await ask(session, ENDS.exitsOnceItHasAnswered)).to.deep.equal([ENDS.exitsOnceItHasAnswered]);
        await pause(pauseMs);
        // A batch that was sent to an ending thread fails, and only this batch.
        const next = await ask(session, 10).catch((error: unknown) => (error as Error).message);
        if (typeof next === 'string') expect(next).to.equal('the thread of the model ended');
        else expect(next).to.deep.equal([10]);
        expect(await ask(session, 11)).to.deep.equal([11]);
      }
    });
  });

  it('fails batches until a new thread can start', async () => {
    await withFiles({ 'runtime.cjs': RUNTIME }, async (root) => {
      const modulePath = join(root, 'runtime.cjs');
      const session = await OnnxSession.open({ modulePath, model: new Uint8Array(), threads: 1 });
      await writeFile(modulePath, 'throw new Error("no longer installed");');
      expect(await faultOf(ask(session, ENDS.exits))).to.equal('the thread of the model ended');
      for (let i = 0; i < 2; i++) expect(await faultOf(ask(session, 10))).to.equal('no longer installed');
      await writeFile(modulePath, RUNTIME);
      const again = async (): Promise<boolean> => (await ask(session, 10).catch(() => [])).length > 0;
      await until('a new thread', again);
      await session.close();
    });
  });
});
