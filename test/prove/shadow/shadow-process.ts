import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ShadowReport } from '../../../runtime/cli/report/shadow-text.js';
import type { ArmRow } from '../../../runtime/learn/shadow/tally.js';
import { BIN } from '../../support/repository.js';
import { until } from '../../support/until.js';

/** How long the arms may take to start, and then to get to the last request, in milliseconds. */
const LIMIT_MS = 60_000;
/** Requests that were sent at the same time as the last one may be read after it. */
const SETTLE_MS = 1_000;

/** What a run of `millrace shadow --follow` found. */
export interface Followed {
  readonly report: ShadowReport;
  /** A row for each request and arm. */
  readonly rows: readonly ArmRow[];
}

/** `millrace shadow --experiment NAME --follow` in a process of its own. */
export interface ShadowProcess {
  /** Waits until an arm ranked or dropped the request, stops the command and reads what it wrote. */
  finish(requestId: string): Promise<Followed>;
  kill(): void;
}

/** Starts the command, and resolves once all arms wait for requests. */
export async function startShadow(
  experiment: string,
  folder: string,
  flags: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ShadowProcess> {
  const exported = join(folder, 'rows.jsonl');
  const args = ['shadow', '--experiment', experiment, '--follow', '--json', '--export', exported, ...flags];
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const rows = async (): Promise<ArmRow[]> =>
    (await readFile(exported, 'utf8'))
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as ArmRow);
  const started = (): boolean => {
    if (child.exitCode !== null) throw new Error(`the command ended: ${stderr}`);
    return stderr.includes('following');
  };
  await until('the arms', started, LIMIT_MS);
  return {
    async finish(requestId) {
      const isRead = async (): Promise<boolean> =>
        (await rows()).some(({ request_id: id }) => id === requestId);
      await until(`the request ${requestId}`, isRead, LIMIT_MS);
      await pause(SETTLE_MS);
      child.kill('SIGINT');
      await ended;
      return { report: JSON.parse(stdout) as ShadowReport, rows: await rows() };
    },
    kill: () => child.kill('SIGKILL'),
  };
}
