import { PIN_SOURCES, type PinSource } from '../../ground/api/ranking-edit.js';

/** The pins of each source, from row to position, in the order that they were made. */
export type Pins = Readonly<Record<PinSource, ReadonlyMap<number, number>>>;

const NO_PINS: ReadonlyMap<number, number> = new Map();

export function checkPosition(position: number): void {
  if (!Number.isInteger(position) || position < 1)
    throw new RangeError(`a position is a whole number from 1, not ${position}`);
}

/**
 * The pins that hold, from row to position. Of two pins of a source to one position, the later one holds. A pin gives way
 * to one of a stronger source, for its row and its position.
 */
export function winningPins(pins: Pins): ReadonlyMap<number, number> {
  if (PIN_SOURCES.every((source) => pins[source].size === 0)) return NO_PINS;
  const all = PIN_SOURCES.map((source) => pins[source]).filter(({ size }) => size > 0);
  const rows = new Map<number, number>();
  for (let at = all.length - 1; at >= 0; at--)
    for (const [row, position] of all[at] ?? [])
      if (!all.slice(0, at).some((stronger) => stronger.has(row))) rows.set(position, row);
  return new Map(Array.from(rows, ([position, row]) => [row, position]));
}

/** The rows of pins by position, none past the end. */
export function placesOf(pins: ReadonlyMap<number, number>, total: number): ReadonlyMap<number, number> {
  if (pins.size === 0) return pins;
  return withinEnd(new Map(Array.from(pins, ([row, position]) => [position, row])), total);
}

/** A position past the end becomes the last one that is free. */
export function withinEnd(fixed: ReadonlyMap<number, number>, total: number): ReadonlyMap<number, number> {
  const past = [...fixed].filter(([position]) => position > total).sort(([a], [b]) => b - a);
  if (past.length === 0) return fixed;
  const places = new Map(fixed);
  for (const [position] of past) places.delete(position);
  let last = total;
  for (const [, row] of past) {
    while (places.has(last)) last--;
    places.set(last, row);
  }
  return places;
}
