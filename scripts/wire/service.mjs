import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const BIN = join(ROOT, 'dist', 'bundle', 'bin.js');

/** The project that the clients are tested with: every kind of attribute, request and pipeline. */
export const WIRE_PROJECT = join(ROOT, 'test', 'wire', 'project');

/** Serves a copy of a project with an embedded store, while `use` runs. */
export async function withService(project, use, env = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-wire-'));
  for (const part of ['millrace.yaml', 'schemas', 'pipelines'])
    cpSync(join(project, part), join(folder, part), { recursive: true });
  const child = spawn(process.execPath, [BIN, 'serve', '--port', '0'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      MILLRACE_STORE: 'embedded',
      MILLRACE_DATA_DIR: join(folder, 'data'),
      MILLRACE_LAME_DUCK_MS: '0',
      LOG_LEVEL: 'info',
      ...env,
    },
  });
  const ended = once(child, 'exit');
  try {
    return await use(await urlOf(child), folder);
  } finally {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The address that the service logs when it listens. */
async function urlOf(child) {
  const printed = [];
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    printed.push(line);
    const { url } = JSON.parse(line);
    if (url === undefined) continue;
    child.stdout.resume();
    return url;
  }
  throw new Error(`the service did not start:\n${printed.join('\n')}`);
}

/** The OpenAPI document of a project, as its service answers it. @param keys whether the service needs keys */
export function documentOf(project, { keys = false } = {}) {
  const made = keys ? makeKey() : undefined;
  return withService(
    project,
    async (url) => {
      const headers = made === undefined ? {} : { Authorization: `Bearer ${made.key}` };
      const answer = await fetch(`${url}/openapi.json`, { headers });
      if (!answer.ok) throw new Error(`GET /openapi.json: ${answer.status} ${await answer.text()}`);
      return answer.json();
    },
    made?.env,
  ).finally(() => made?.remove());
}

function makeKey() {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-wire-keys-'));
  const env = { MILLRACE_KEYS: join(folder, 'keys.json') };
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [BIN, 'keys', 'create', 'wire', '--scope', 'rank'],
    { env: { PATH: process.env.PATH, ...env }, encoding: 'utf8', cwd: folder },
  );
  if (status !== 0) throw new Error(stderr);
  return { key: stdout.trim(), env, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
