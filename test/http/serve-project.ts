import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { MemoryStore } from '../support/memory-store.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';

/** When the examples of the docs happen: the rows in them are some hours old. */
const SERVED_AT = Date.parse('2026-01-31T12:00:00Z');

/** Serves the project of a folder, whole but for its store, which is in memory. */
export async function serveProject(
  root: string,
  use: (url: string) => Promise<void>,
  logger?: Logger,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  // A busy machine is no overload.
  const settings = loadSettings(
    { LOG_LEVEL: 'silent', MILLRACE_QUEUE_MS: '30000', ...env },
    { project: root },
  );
  const app = await createApp(settings, {
    store: new MemoryStore(),
    clock: () => SERVED_AT,
    ...(logger === undefined ? {} : { logger }),
  });
  const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
  try {
    await use(`http://127.0.0.1:${server.port}`);
  } finally {
    await server.close(0);
    await app.close();
  }
}

/** Serves the project that ships. */
export async function serveShippedProject(use: (url: string) => Promise<void>): Promise<void> {
  await withFiles({}, async (root) => {
    for (const folder of ['pipelines', 'schemas']) {
      await cp(repositoryPath(folder), join(root, folder), { recursive: true });
    }
    await serveProject(root, use);
  });
}
