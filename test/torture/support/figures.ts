import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from './history.js';

/** `200 × 1234, deadline_exceeded × 5`, and the slowest answers. */
export function summary(answers: readonly Answer[]): string {
  const counts = new Map<string, number>();
  for (const { status, code } of answers) {
    const name = status === 200 ? '200' : `${status} ${code}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const times = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(0);
  const text = [...counts].map(([name, count]) => `${name} × ${count}`).join(', ');
  return `${text}; p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`;
}

/** Milliseconds from `since` until the last failed answer, or 0 if none failed after it. */
export function lastFailureAfter(answers: readonly Answer[], since: number): number {
  const failed = answers.filter(({ status, at }) => status !== 200 && at > since).map(({ at }) => at);
  return failed.length === 0 ? 0 : Math.max(...failed) - since;
}

/** Answers in a row that say that requests work again. */
const IN_A_ROW = 30;

/** Waits until the last answers of a load that goes on are all good; false if they are not within half a minute. */
export async function worksAgain(answers: readonly Answer[]): Promise<boolean> {
  const until = performance.now() + 30_000;
  while (performance.now() < until) {
    const last = answers.slice(-IN_A_ROW);
    if (last.length === IN_A_ROW && last.every(({ status }) => status === 200)) return true;
    await pause(50);
  }
  return false;
}

/** Says what a failover may cost, and what is checked of it. */
export function replicationPromise(waitReplicas: number): string {
  return waitReplicas === 0
    ? 'A write is acknowledged before any replica has it: what a failover loses of those is printed, and no failure.'
    : `A write is acknowledged once ${waitReplicas} replica has it: a failover is to lose none; uploads fail while there is no such replica.`;
}

/** Ends a script that hangs, with an error. */
export function endAfter(minutes: number): void {
  setTimeout(() => {
    console.error(`FAIL this has not ended within ${minutes} minutes`);
    process.exit(1);
  }, minutes * 60_000).unref();
}

/** Prints a figure beside what it has to be, and remembers whether all are so. */
export class Verdict {
  #failed = 0;

  check(what: string, holds: boolean, figure: string): void {
    if (!holds) this.#failed++;
    console.log(`${holds ? 'ok  ' : 'FAIL'} ${what}: ${figure}`);
  }

  /** Sets the exit code. */
  end(): void {
    console.log(this.#failed === 0 ? 'all held' : `${this.#failed} did not hold`);
    if (this.#failed > 0) process.exitCode = 1;
  }
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
