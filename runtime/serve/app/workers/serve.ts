import cluster from 'node:cluster';
import type { Settings } from '../../../project/settings/settings.js';
import { serveAlone } from '../serve.js';
import type { ProjectFileContent } from './messages.js';
import { serveAsWorker } from './serve-as-worker.js';
import { serveWithWorkers } from './serve-with-workers.js';

/**
 * Reads the settings.
 * @param file the content of millrace.yaml if this process must not read the file
 */
type ReadSettings = (file?: ProjectFileContent) => Promise<Settings>;

/** Serves in this process or with workers, until a signal ends the process. Resolves when the service answers. */
export async function serve(read: ReadSettings): Promise<void> {
  if (cluster.isWorker) return serveAsWorker(read);
  const settings = await read();
  return settings.workers > 1 && settings.workbench !== 'only'
    ? serveWithWorkers(settings)
    : serveAlone(settings);
}
