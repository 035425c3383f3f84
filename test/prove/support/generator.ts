import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadOrder, LoadResult } from './load-generator.js';

/** Sends load from a separate process. */
export interface Generator {
  send(order: LoadOrder): Promise<LoadResult>;
  close(): void;
}

export function startGenerator(): Generator {
  const child = fork(fileURLToPath(new URL('./load-generator.js', import.meta.url)));
  return {
    async send(order) {
      child.send(order);
      const [result] = (await once(child, 'message')) as [LoadResult];
      return result;
    },
    close: () => child.kill('SIGKILL'),
  };
}
