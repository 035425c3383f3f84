/**
 * What is known of one cell of the frame. Missing, failed, expired and defaulted are different things; the
 * number travels in a Uint8Array beside the values.
 *
 * A defaulted cell keeps its cause: its status is `DEFAULTED | cause`.
 */
export const Status = {
  /** The value is known. */
  present: 0,
  /** The entity or feature row carries an explicit null. */
  null: 1,
  /** The entity was found and does not carry the attribute; also the result of an expression without one. */
  absent: 2,
  /** The entity is not in the index. */
  missing_entity: 3,
  /** The feature view holds no row, or no such feature, for the key. */
  missing_feature: 4,
  /** The feature's row is older than the view's TTL; no value is given. */
  expired: 5,
  /** The feature's row is older than the view's TTL; the view says `expired: stale`, the old value is given. */
  stale: 6,
  /** The read or the conversion failed. */
  failed: 8,
} as const;

/** Bit set on a cell that holds a declared default; the low bits keep the cause. */
export const DEFAULTED = 16;

export type StatusName = keyof typeof Status | 'defaulted';

const NAMES: readonly StatusName[] = [
  'present',
  'null',
  'absent',
  'missing_entity',
  'missing_feature',
  'expired',
  'stale',
  'absent',
  'failed',
];

/** Every name that a status has. */
export const STATUS_NAMES: readonly StatusName[] = [...new Set(NAMES), 'defaulted'];

/** True where the cell holds a value: present, stale or defaulted. */
export function isKnown(status: number): boolean {
  return status === Status.present || status === Status.stale || status >= DEFAULTED;
}

/** The status's name; `defaulted` for any defaulted cell. */
export function statusName(status: number): StatusName {
  return status >= DEFAULTED ? 'defaulted' : (NAMES[status] ?? 'absent');
}

/** Why a defaulted cell had no value of its own; undefined for any other cell. */
export function defaultedCause(status: number): StatusName | undefined {
  return status >= DEFAULTED ? NAMES[status & (DEFAULTED - 1)] : undefined;
}
