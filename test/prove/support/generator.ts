import { fork, type ForkOptions } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadOrder, LoadResult } from './load-generator.js';

/** Sends load from a separate process. */
export interface Generator {
  send(order: LoadOrder): Promise<LoadResult>;
  close(): void;
}

/** @param options by default it runs on any core */
export function startGenerator(options: ForkOptions = {}): Generator {
  const child = fork(fileURLToPath(new URL('./load-generator.js', import.meta.url)), options);
  return {
    async send(order) {
      child.send(order);
      const [result] = (await once(child, 'message')) as [LoadResult];
      return result;
    },
    close: () => child.kill('SIGKILL'),
  };
}
