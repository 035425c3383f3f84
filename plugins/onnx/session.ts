import { Worker } from 'node:worker_threads';
import { Turns } from 'millrace/api';
import type { LoadedModel, ToMain, ToWorker, WireTensor, WorkerStart } from './session-messages.js';

/** A model in onnxruntime-node, on a thread of its own that runs one batch at a time. */
export class OnnxSession {
  readonly #turns = new Turns(1);
  readonly #start: WorkerStart;
  #thread: SessionThread;

  private constructor(
    start: WorkerStart,
    thread: SessionThread,
    readonly model: LoadedModel,
  ) {
    this.#start = start;
    this.#thread = thread;
  }

  /** @throws Error with what the runtime says of a model that it does not take */
  static async open(start: WorkerStart): Promise<OnnxSession> {
    const { thread, model } = await SessionThread.begin(start);
    return new OnnxSession(start, thread, model);
  }

  /**
   * Runs the model; the inputs' memory goes to the thread.
   * @throws Error of the runtime, or the signal's reason if it aborts before the batch's turn. What runs cannot be stopped.
   */
  run(inputs: readonly WireTensor[], outputs: readonly string[], signal: AbortSignal): Promise<WireTensor[]> {
    return this.#turns.take(signal, async () => {
      if (this.#thread.ended) this.#thread = (await SessionThread.begin(this.#start)).thread;
      return this.#thread.run({ inputs, outputs });
    });
  }

  /** Once nothing runs any more. */
  async close(): Promise<void> {
    await this.#turns.idle();
    await this.#thread.end();
  }
}

class SessionThread {
  readonly #worker: Worker;
  #settle: ((message: ToMain) => void) | undefined;
  ended = false;

  private constructor(start: WorkerStart) {
    this.#worker = new Worker(new URL('./session-worker.js', import.meta.url), { workerData: start });
    this.#worker.on('message', (message: ToMain) => this.#settle?.(message));
    this.#worker.on('error', (error) => this.#lost(error.message));
    this.#worker.on('exit', () => this.#lost('the thread of the model ended'));
  }

  /** A thread that has loaded the model; one that could not is ended. */
  static async begin(
    start: WorkerStart,
  ): Promise<{ readonly thread: SessionThread; readonly model: LoadedModel }> {
    const thread = new SessionThread(start);
    const message = await thread.#answer();
    if (message.kind === 'loaded') return { thread, model: message.model };
    await thread.end();
    throw unexpected(message);
  }

  async run(asked: ToWorker): Promise<WireTensor[]> {
    const memory = asked.inputs.flatMap(({ data }) =>
      Array.isArray(data) ? [] : [data.buffer as ArrayBuffer],
    );
    this.#worker.postMessage(asked, memory);
    const message = await this.#answer();
    if (message.kind === 'answer') return [...message.outputs];
    throw unexpected(message);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  /** Keeps the process alive while something is asked, and not while the thread is idle. */
  #answer(): Promise<ToMain> {
    this.#worker.ref();
    return new Promise((resolve) => {
      this.#settle = (message) => {
        this.#settle = undefined;
        this.#worker.unref();
        resolve(message);
      };
    });
  }

  #lost(reason: string): void {
    this.ended = true;
    this.#settle?.({ kind: 'failed', reason });
  }
}

function unexpected(message: ToMain): Error {
  return new Error(message.kind === 'failed' ? message.reason : `the model's thread sent ${message.kind}`);
}
