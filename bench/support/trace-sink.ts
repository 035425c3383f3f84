import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A collector that accepts everything, in a process of its own. */
export interface TraceSink {
  readonly url: string;
  /** The bytes that it got since the last question. */
  received(): Promise<number>;
  close(): void;
}

export async function startSink(): Promise<TraceSink> {
  const child = fork(fileURLToPath(new URL('../service/trace-sink.js', import.meta.url)), [], {
    stdio: 'inherit',
  });
  const [url] = (await once(child, 'message')) as [string];
  return {
    url,
    async received() {
      child.send('received');
      const [bytes] = (await once(child, 'message')) as [number];
      return bytes;
    },
    close: () => void child.kill('SIGKILL'),
  };
}
