import { Worker } from 'node:worker_threads';
import { Turns } from 'millrace/api';
import type { LoadedModel, ToMain, ToWorker, WireTensor, WorkerStart } from './session-messages.js';

/** A model in onnxruntime-node. It runs one batch at a time on its own thread. */
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

  /** @throws Error with the reason why the runtime does not load the model */
  static async open(start: WorkerStart): Promise<OnnxSession> {
    const { thread, model } = await SessionThread.begin(start);
    return new OnnxSession(start, thread, model);
  }

  /**
   * Runs the model. The memory of the inputs is transferred to the thread.
   * @throws Error of the runtime, or the reason of the signal if it aborts before the batch starts. A batch that runs
   * cannot be stopped.
   */
  run(inputs: readonly WireTensor[], outputs: readonly string[], signal: AbortSignal): Promise<WireTensor[]> {
    return this.#turns.take(signal, async () => {
      if (this.#thread.ended) this.#thread = (await SessionThread.begin(this.#start)).thread;
      return this.#thread.run({ inputs, outputs });
    });
  }

  /** Ends the thread when no batch runs any more. */
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

  /** Starts a thread that loads the model. If loading fails, the thread is ended. */
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

  /** Waits for the thread's message. Only while it waits does the thread keep the process alive. */
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
