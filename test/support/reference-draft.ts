import { hash } from 'node:crypto';

/** A team draft in the words of the documentation, one list after another. */
export interface ReferenceDraft {
  readonly order: readonly string[];
  /** By place: 0 for control, 1 for the arm, undefined if the candidate gives no credit. */
  readonly teams: readonly (0 | 1 | undefined)[];
}

/** The coins as docs/experiments/live.md describes them. */
export function referenceCoins(experiment: string, requestId: string): (round: number) => boolean {
  return (round) => {
    const text = ['draft', experiment, requestId, `${Math.floor(round / 256)}`].join('\0');
    const bits = [...hash('sha256', text, 'buffer')]
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join('');
    return bits[round % 256] === '1';
  };
}

/** Two orders, mixed. They may have different candidates. */
export function referenceDraft(
  control: readonly string[],
  arm: readonly string[],
  coin: (round: number) => boolean,
): ReferenceDraft {
  const order: string[] = [];
  const teams: (0 | 1 | undefined)[] = [];
  while (order.length < control.length && control[order.length] === arm[order.length]) {
    order.push(control[order.length] ?? '');
    teams.push(undefined);
  }
  const all = new Set([...control, ...arm]).size;
  for (let round = 0; order.length < all; round++) {
    for (const first of coin(round) ? ([0, 1] as const) : ([1, 0] as const)) {
      const next = (team: 0 | 1): string | undefined =>
        (team === 0 ? control : arm).find((one) => !order.includes(one));
      const own = next(first);
      const row = own ?? next(first === 0 ? 1 : 0);
      if (row === undefined) continue;
      order.push(row);
      teams.push(own === undefined ? (first === 0 ? 1 : 0) : first);
    }
  }
  return { order, teams };
}
