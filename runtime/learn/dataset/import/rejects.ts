import { writeFileSync } from 'node:fs';
import type { JsonValue } from '../../../ground/api/types.js';
import type { RejectReason } from '../../../project/foreign/foreign-event.js';

/** Samples of each reason that are kept. */
const SAMPLES = 100;
const MOST_CHARACTERS = 2000;

/** A row, or a part of it, that is not imported. */
export interface Rejected {
  readonly file: string;
  readonly line: number;
  readonly reason: RejectReason;
  readonly detail: string;
  readonly row?: JsonValue;
}

/** Counts what is not imported, by reason, and keeps samples. */
export class Rejects {
  readonly counts = new Map<RejectReason, number>();
  readonly #samples: Rejected[] = [];

  add(rejected: Rejected): void {
    const count = (this.counts.get(rejected.reason) ?? 0) + 1;
    this.counts.set(rejected.reason, count);
    if (count <= SAMPLES) this.#samples.push(rejected);
  }

  get total(): number {
    let total = 0;
    for (const count of this.counts.values()) total += count;
    return total;
  }

  /** A sample of each reason. */
  firsts(): readonly Rejected[] {
    const seen = new Set<RejectReason>();
    return this.#samples.filter(({ reason }) => !seen.has(reason) && seen.add(reason));
  }

  /** Writes the samples as JSON lines. */
  write(path: string): void {
    const lines = this.#samples.map((sample) => {
      const text = JSON.stringify(sample);
      if (text.length <= MOST_CHARACTERS) return text;
      const { row, ...rest } = sample;
      return JSON.stringify({ ...rest, row: `${JSON.stringify(row).slice(0, MOST_CHARACTERS)}…` });
    });
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  }
}
