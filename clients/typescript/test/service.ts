import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The repository. The compiled tests are in clients/typescript/dist/test. */
export const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
export const BIN = join(ROOT, 'dist', 'bundle', 'bin.js');

export interface Service {
  readonly url: string;
  readonly folder: string;
  readonly stop: () => Promise<void>;
}

/** Starts the real service with a copy of test/wire/project and an embedded store. */
export async function startService(env: Record<string, string> = {}): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-client-'));
  cpSync(join(ROOT, 'test', 'wire', 'project'), folder, { recursive: true });
  const child = spawn(process.execPath, [BIN, 'serve', '--port', '0'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      MILLRACE_STORE: 'embedded',
      MILLRACE_DATA_DIR: join(folder, 'data'),
      MILLRACE_LAME_DUCK_MS: '0',
      ...env,
    },
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = JSON.parse(line) as { url?: string };
    if (url === undefined) continue;
    child.stdout.resume();
    const stop = async (): Promise<void> => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    };
    return { url, folder, stop };
  }
  throw new Error('the service did not start');
}
