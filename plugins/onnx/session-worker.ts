/**
 * The thread of one session. onnxruntime-node runs a model on the calling thread, which must not be that of the event
 * loop.
 */
import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import type { InferenceSession, Tensor } from 'onnxruntime-common';
import type { LoadedModel, ToMain, ToWorker, WireTensor, WorkerStart } from './session-messages.js';

/** The part of onnxruntime-node that is used. */
interface OnnxRuntime {
  readonly InferenceSession: {
    create(model: Uint8Array, options: InferenceSession.SessionOptions): Promise<InferenceSession>;
  };
  readonly Tensor: new (type: string, data: unknown, dims: readonly number[]) => Tensor;
}

const { modulePath, threads, model } = workerData as WorkerStart;

function send(message: ToMain): void {
  parentPort?.postMessage(message);
}

function fail(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  send({ kind: 'failed', reason: reason.replace(/\s+/g, ' ').trim() });
}

async function start(): Promise<void> {
  const runtime = createRequire(import.meta.url)(modulePath) as OnnxRuntime;
  const session = await runtime.InferenceSession.create(model, {
    executionProviders: ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  parentPort?.on('message', (asked: ToWorker) => {
    run(runtime, session, asked).then((outputs) => send({ kind: 'answer', outputs }), fail);
  });
  send({ kind: 'loaded', model: describe(session) });
}

async function run(
  { Tensor }: OnnxRuntime,
  session: InferenceSession,
  { inputs, outputs }: ToWorker,
): Promise<WireTensor[]> {
  const feeds = inputs.map(({ name, type, shape, data }) => [name, new Tensor(type, data, shape)] as const);
  const found = await session.run(Object.fromEntries(feeds), outputs);
  return outputs.map((name) => {
    const { type, dims, data } = found[name] as Tensor;
    return { name, type, shape: [...dims], data: data };
  });
}

function describe({ inputMetadata, outputMetadata }: Partial<InferenceSession>): LoadedModel {
  if (inputMetadata === undefined || outputMetadata === undefined)
    throw new Error('this version of onnxruntime-node does not describe models; install 1.22 or later');
  return { inputs: inputMetadata.map(valueOf), outputs: outputMetadata.map(valueOf) };
}

function valueOf(value: InferenceSession.ValueMetadata): LoadedModel['inputs'][number] {
  if (!value.isTensor) return { name: value.name, type: undefined, shape: [] };
  const shape = value.shape.map((size) => (typeof size === 'number' ? size : undefined));
  return { name: value.name, type: value.type, shape };
}

await start().catch(fail);
