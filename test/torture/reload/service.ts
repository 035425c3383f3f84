/** A service in a process of its own that tells of its memory. Start it with `--expose-gc` and an IPC channel. */
import { setTimeout as pause } from 'node:timers/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startService } from '../../../runtime/serve/app/serve.js';
import { loadSettings } from '../../../runtime/project/settings/settings.js';

/** What the process holds after a collection of garbage, and the longest that its event loop was held up since asked. */
export interface ServiceState {
  readonly heapUsed: number;
  readonly rss: number;
  /** Instances of WebAssembly that are still alive. */
  readonly programs: number;
  readonly longestStallMs: number;
}

const programs: WeakRef<object>[] = [];
const { instantiate } = WebAssembly as unknown as {
  instantiate: (module: object, imports: object) => Promise<object>;
};
Object.assign(WebAssembly, {
  instantiate: async (module: object, imports: object) => {
    const instance = await instantiate(module, imports);
    programs.push(new WeakRef(instance));
    return instance;
  },
});

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

async function state(): Promise<ServiceState> {
  const longestStallMs = delay.max / 1e6;
  // What is let go of in one collection may free more in the next.
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.();
    await pause(20);
  }
  const { heapUsed, rss } = process.memoryUsage();
  delay.reset();
  return {
    heapUsed,
    rss,
    programs: programs.filter((one) => one.deref() !== undefined).length,
    longestStallMs,
  };
}

const service = await startService(loadSettings(process.env));
process.on('message', (message) => {
  if (message === 'state') void state().then((told) => process.send?.(told));
  else void service.close().then(() => process.disconnect());
});
process.send?.(service.url);
