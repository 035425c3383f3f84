import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { keysFileOf } from '../../runtime/serve/access/exposure.js';
import { ServedKeys } from '../../runtime/serve/access/served-keys.js';
import { createApp } from '../../runtime/serve/app/app.js';
import type { App } from '../../runtime/serve/app/running-app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { MemoryStore } from './memory-store.js';
import { writeProject } from './project.js';

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly file?: string;
  readonly line?: number;
  readonly code?: string;
  readonly request_id?: string;
  readonly trace_id?: string;
  readonly span_id?: string;
}

export interface Answered {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

/** A project in a separate folder, served over HTTP from a store in memory. Its files can be edited while it runs. */
export interface ServedProject {
  readonly app: App;
  readonly root: string;
  readonly url: string;
  readonly log: readonly LogLine[];
  /** Writes a file like a published model: writes a temporary file beside it, then renames it. */
  edit(path: string, text: string): Promise<void>;
  post(path: string, body: object): Promise<Answered>;
  get(path: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * @param redisUrl the Redis to use instead of a store in memory
 * @param env more settings
 */
export async function serveFiles(
  files: Readonly<Record<string, string>>,
  redisUrl?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ServedProject> {
  const root = await writeProject(files);
  const log: LogLine[] = [];
  const logger = pino({ level: 'info' }, { write: (text) => void log.push(JSON.parse(text) as LogLine) });
  const settings = loadSettings({ REDIS_URL: redisUrl, MILLRACE_WARM_UP_MS: '0', ...env }, { project: root });
  const store = redisUrl === undefined ? { store: new MemoryStore() } : {};
  const keysFile = keysFileOf(settings);
  const keys = keysFile === undefined ? undefined : await ServedKeys.open(keysFile);
  const app = await createApp(settings, { ...store, logger, keys, records: true });
  const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    app,
    root,
    url,
    log,
    async edit(path, text) {
      await writeFile(join(root, `${path}.new`), text);
      await rename(join(root, `${path}.new`), join(root, path));
    },
    async post(path, body) {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, json: (await response.json()) as Record<string, unknown> };
    },
    get: async (path) => (await fetch(url + path)).text(),
    async close() {
      await server.close(0);
      await app.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** Waits until a condition holds; the test's time limit ends it. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(5);
}
