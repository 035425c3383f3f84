import type { MasterAddress } from '../../../../project/settings/redis-address.js';
import { SLOTS } from './key-slot.js';

/** Slots `first` to `last` belong to a master. */
export interface SlotRange {
  readonly first: number;
  readonly last: number;
  readonly master: MasterAddress;
}

/**
 * Reads the reply to CLUSTER SLOTS: `[first, last, [host, port, …], …replicas]` for each range.
 * @param asked the node that answered; an empty or unknown host means the same host
 */
export function readSlotRanges(reply: unknown, asked: MasterAddress): SlotRange[] {
  if (!Array.isArray(reply)) throw new Error('CLUSTER SLOTS was not answered with a list');
  return reply.flatMap((entry: unknown) => {
    const [first, last, node] = Array.isArray(entry) ? (entry as unknown[]) : [];
    const [host, port] = Array.isArray(node) ? (node as unknown[]) : [];
    if (!isSlot(first) || !isSlot(last) || typeof port !== 'number') return [];
    const known = typeof host === 'string' && host !== '' && host !== '?';
    return [{ first, last, master: { host: known ? host : asked.host, port } }];
  });
}

function isSlot(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < SLOTS;
}
