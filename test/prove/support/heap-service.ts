import { getHeapCodeStatistics } from 'node:v8';
import { startService } from '../../../runtime/serve/app/serve.js';
import { loadSettings } from '../../../runtime/project/settings/settings.js';

/** Serves a project, reloads it on the message `reload`, and answers other messages with its memory after collections. */
const { gc } = globalThis;
if (gc === undefined) throw new Error('start this process with --expose-gc');
const service = await startService(loadSettings(process.env));
process.on('message', (message) => {
  if (message === 'reload') {
    void service.app.reload().then(() => process.send?.('reloaded'));
    return;
  }
  // The second collection frees what the finalizers of the first one released.
  gc();
  setImmediate(() => {
    gc();
    const { heapUsed, external, rss } = process.memoryUsage();
    const { code_and_metadata_size: code, bytecode_and_metadata_size: bytecode } = getHeapCodeStatistics();
    process.send?.({ heapUsed, compiled: code + bytecode, external, rss });
  });
});
process.on('disconnect', () => process.exit());
process.send?.(service.url);
