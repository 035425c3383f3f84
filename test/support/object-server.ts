import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Bucket } from '../../runtime/ground/core/bucket.js';
import { findMoto } from './needs.js';
import { freePort } from './redis-server.js';

/** A server with the API of S3 on a free port: moto, which keeps its objects in memory. */
export interface ObjectServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** The variables of a process that uses it. */
  readonly env: Readonly<Record<string, string>>;
  /** Makes a bucket. @returns a client of it */
  bucket(name: string): Promise<Bucket>;
  close(): Promise<void>;
}

const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' };

export async function startObjectServer(program = findMoto() ?? ''): Promise<ObjectServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(program, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  await answers(child, url);
  const env = { ...CREDENTIALS, AWS_ENDPOINT_URL_S3: url };
  return {
    ...{ url, port, env, pid: child.pid ?? 0 },
    async bucket(name) {
      const made = await fetch(`${url}/${name}`, { method: 'PUT' });
      if (!made.ok) throw new Error(`the bucket ${name} was not made: ${await made.text()}`);
      return new Bucket(name, { env });
    },
    async close() {
      process.off('exit', kill);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      kill();
      await gone;
    },
  };
}

async function answers(child: ChildProcess, url: string): Promise<void> {
  for (let tries = 0; ; tries++)
    try {
      await fetch(url);
      return;
    } catch (error) {
      if (tries === 600 || child.exitCode !== null) throw error;
      await pause(100);
    }
}

/** Sets variables of this process. @returns sets them as they were */
export function setVariables(given: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(given).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, given);
  return () => {
    for (const [name, value] of before)
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
  };
}

/** The keys of a bucket, in order. */
export async function keysOf(bucket: Bucket, prefix = ''): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of bucket.list(prefix)) keys.push(key);
  return keys;
}
