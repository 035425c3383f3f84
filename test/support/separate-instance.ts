import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface InstanceData {
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
}

export interface InstanceCall {
  readonly number: number;
  readonly call: 'upload' | 'get' | 'push' | 'explain' | 'resident' | 'close';
  readonly body?: unknown;
}

/** An instance of a project in a separate thread. It shares only a store with others. */
export class SeparateInstance {
  readonly #worker: Worker;
  #number = 0;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  static async start(files: InstanceData['files'], env: InstanceData['env']): Promise<SeparateInstance> {
    const worker = new Worker(new URL('./project-thread.js', import.meta.url), {
      workerData: { files, env },
    });
    await once(worker, 'message');
    return new SeparateInstance(worker);
  }

  /** @throws Error with the text of the instance's error */
  call<T>(call: InstanceCall['call'], body?: unknown): Promise<T> {
    const number = this.#number++;
    return new Promise((resolve, reject) => {
      const listen = (answer: { number: number; result?: T; error?: string }): void => {
        if (answer.number !== number) return;
        this.#worker.off('message', listen);
        if (answer.error === undefined) resolve(answer.result as T);
        else reject(new Error(answer.error));
      };
      this.#worker.on('message', listen);
      this.#worker.postMessage({ number, call, body } satisfies InstanceCall);
    });
  }

  async close(): Promise<void> {
    await this.call('close');
    await this.#worker.terminate();
  }
}
