import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Medians and percentiles of repeated runs. The contestants alternate, so that all run under the same conditions. */
export interface Measured {
  readonly name: string;
  /** Milliseconds per run, sorted. */
  readonly ms: readonly number[];
  /** The mean CPU time of this process per run, user and system, in milliseconds. */
  readonly cpuMs: number;
}

export interface Contestant {
  readonly name: string;
  /** Runs before each run and is not measured. */
  prepare?(): void | Promise<void>;
  run(): Promise<void>;
}

/** Runs every contestant once per round. The first rounds are warm-up and do not count. */
export async function measure(
  contestants: readonly Contestant[],
  rounds: number,
  warmUp = Math.ceil(rounds / 5),
): Promise<Measured[]> {
  const times = contestants.map(() => [] as number[]);
  const cpu = contestants.map(() => 0);
  for (let round = 0; round < warmUp + rounds; round++) {
    for (const [i, contestant] of contestants.entries()) {
      await contestant.prepare?.();
      const before = process.cpuUsage();
      const start = performance.now();
      await contestant.run();
      const took = performance.now() - start;
      if (round < warmUp) continue;
      const { user, system } = process.cpuUsage(before);
      times[i]?.push(took);
      cpu[i] = (cpu[i] ?? 0) + (user + system) / 1000;
    }
  }
  return contestants.map(({ name }, i) => ({
    name,
    ms: (times[i] ?? []).sort((a, b) => a - b),
    cpuMs: (cpu[i] ?? NaN) / rounds,
  }));
}

/** Returns the p-th percentile (0 to 100) of sorted numbers, nearest rank. */
export function percentile(sorted: readonly number[], p: number): number {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil((p / 100) * sorted.length) - 1))] ?? NaN;
}

export function median(sorted: readonly number[]): number {
  return percentile(sorted, 50);
}

/** Renders rows as a plain table with right-aligned numbers. It fits into 80 columns if the cells do. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ');
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

export const ms = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(value < 10 ? 2 : 1));

/** CPU of this process since `process.cpuUsage()`, user and system, in milliseconds. */
export function cpuSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** The memory in use in bytes, after what is no longer used is freed. */
export async function memory(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  await pause(200);
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
