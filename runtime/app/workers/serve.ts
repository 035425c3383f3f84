import cluster from 'node:cluster';
import type { Settings } from '../../settings/settings.js';
import { serveAlone } from '../serve.js';
import { serveAsWorker } from './serve-as-worker.js';
import { serveWithWorkers } from './serve-with-workers.js';

/** Serves in this process or with workers, until a signal ends the process. Resolves when the service answers. */
export function serve(settings: Settings): Promise<void> {
  if (cluster.isWorker) return serveAsWorker(settings);
  return settings.workers > 1 ? serveWithWorkers(settings) : serveAlone(settings);
}
