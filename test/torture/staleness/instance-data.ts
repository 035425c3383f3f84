import type { SharedHistory } from './shared-history.js';

/** What a thread is told when it starts. */
export interface InstanceData {
  readonly project: string;
  /** Says where Redis is. */
  readonly env: NodeJS.ProcessEnv;
  readonly number: number;
  readonly instances: number;
  readonly writers: number;
  readonly readers: number;
  readonly memory: SharedHistory['memory'];
  readonly items: number;
}

/** What a thread saw in one phase. */
export interface PhaseFigures {
  readonly rankings: number;
  readonly writes: number;
  /** Rankings of an item that was older than what this instance had acknowledged before it began. */
  readonly violations: number;
  readonly torn: number;
  /** Items of other instances that were seen. */
  readonly foreign: number;
  /** Of those that were older than acknowledged elsewhere: for how long they had been, in milliseconds. */
  readonly lags: readonly number[];
  readonly hits: number;
  readonly misses: number;
  readonly bypasses: number;
  readonly flushes: number;
  readonly failed: number;
  /** When the last call failed, milliseconds after the phase began; 0 if none did. */
  readonly lastFailed: number;
  /** Some of what failed. */
  readonly failures: readonly string[];
}

export type Command =
  | { readonly do: 'run'; readonly milliseconds: number; readonly calls: number }
  | { readonly do: 'versions' }
  | { readonly do: 'stop' };

/** Ids with what could be taken apart wrongly on the way: a comma, a colon, letters of more than one byte. */
export function idOf(item: number): string {
  return `é:${item % 7},${item}`;
}
