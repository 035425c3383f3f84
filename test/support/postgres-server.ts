import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { findPostgres } from './needs.js';
import { freePort } from './redis-server.js';

/** A private PostgreSQL on a free port, with its files in a temporary folder. */
export interface PrivatePostgres {
  readonly port: number;
  readonly url: string;
  /** Runs statements as the superuser. */
  run(sql: string): Promise<pg.QueryResult>;
  /** Sends a signal to the server and to all of its processes. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Kills all of them. The server can be started again. */
  stop(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** @param programs the folder of `initdb` and `postgres` */
export async function startPostgres(
  programs = findPostgres() ?? '',
  onPort?: number,
): Promise<PrivatePostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-postgres-'));
  const user = unprivileged();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  execFileSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'owner', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    {
      stdio: 'ignore',
      cwd: folder,
      ...user,
    },
  );
  const port = onPort ?? (await freePort());
  const url = `postgres://owner@127.0.0.1:${port}/postgres`;
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off'];
  let server: ChildProcess | undefined;
  const run = async (sql: string): Promise<pg.QueryResult> => {
    const client = new pg.Client(url);
    try {
      await client.connect();
      return await client.query(sql);
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const start = async (): Promise<void> => {
    const started = spawn(
      join(programs, 'postgres'),
      ['-D', data, ...settings.flatMap((one) => ['-c', one])],
      {
        stdio: 'ignore',
        cwd: folder,
        ...user,
      },
    );
    server = started;
    for (let tries = 0; ; tries++)
      try {
        await run('select 1');
        return;
      } catch (error) {
        if (tries === 200 || started.exitCode !== null) throw error;
        await pause(50);
      }
  };
  const signal = (name: NodeJS.Signals): void => {
    const pid = server?.pid ?? 0;
    // The processes of connections are children of the server, each in a session of its own.
    const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
    for (const one of [pid, ...stdout.split('\n').filter(Boolean).map(Number)])
      try {
        process.kill(one, name);
      } catch {
        // It has ended.
      }
  };
  const stop = async (): Promise<void> => {
    if (server === undefined) return;
    const gone = once(server, 'exit');
    signal('SIGKILL');
    await gone;
    server = undefined;
  };
  await start();
  return {
    port,
    url,
    run,
    signal,
    stop,
    start,
    async remove() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root. Its package adds a user. */
function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [, , uid, gid] = /^postgres:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0].split(':') ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}
