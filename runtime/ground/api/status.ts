/** How Feast's feature server spells a status (FieldStatus of its ServingService.proto). */
export const FEAST_STATUSES = ['PRESENT', 'NULL_VALUE', 'NOT_FOUND', 'OUTSIDE_MAX_AGE', 'INVALID'] as const;
export type FeastStatus = (typeof FEAST_STATUSES)[number];

interface StatusRow {
  /** The byte in a column's `status`. It is below DEFAULTED, and no other status may reuse it. */
  readonly code: number;
  /** Whether a cell with this status holds a value. */
  readonly isKnown: boolean;
  readonly feast: FeastStatus;
}

/**
 * The table of statuses of a cell of the frame, in the order of their codes. Missing, failed, expired and defaulted
 * are different states. The code is in a Uint8Array beside the values.
 *
 * A defaulted cell keeps its cause: its status is `DEFAULTED | cause`.
 */
const STATUSES = {
  /** The value is known. */
  present: { code: 0, isKnown: true, feast: 'PRESENT' },
  /** The entity or the feature row has an explicit null. */
  null: { code: 1, isKnown: false, feast: 'NULL_VALUE' },
  /** The entity was found and lacks the attribute. Also the status of an expression that has no result. */
  absent: { code: 2, isKnown: false, feast: 'NOT_FOUND' },
  /** The entity is not in the index. */
  missing_entity: { code: 3, isKnown: false, feast: 'NOT_FOUND' },
  /** The feature view has no row for the key, or the row lacks the feature. */
  missing_feature: { code: 4, isKnown: false, feast: 'NOT_FOUND' },
  /** The row of the feature is older than the TTL of the view; there is no value. */
  expired: { code: 5, isKnown: false, feast: 'OUTSIDE_MAX_AGE' },
  /**
   * The row of the feature is older than the TTL of the view. The view says `expired: stale`, so the cell has the old
   * value.
   */
  stale: { code: 6, isKnown: true, feast: 'OUTSIDE_MAX_AGE' },
  /** The read or the conversion failed. */
  failed: { code: 8, isKnown: false, feast: 'INVALID' },
} as const satisfies Record<string, StatusRow>;

type CauseName = keyof typeof STATUSES;

export type StatusName = CauseName | 'defaulted';

const ROWS = Object.entries(STATUSES) as readonly (readonly [CauseName, StatusRow])[];

/** The codes, by name. */
export const Status = Object.freeze(
  Object.fromEntries(ROWS.map(([name, { code }]) => [name, code])),
) as unknown as { readonly [Name in CauseName]: (typeof STATUSES)[Name]['code'] };

/** The bit of a cell that holds a declared default; the low bits hold the cause. */
export const DEFAULTED = 16;

/** The names of all statuses. */
export const STATUS_NAMES: readonly StatusName[] = [...ROWS.map(([name]) => name), 'defaulted'];

/** Names by code. A code without a status has the name `absent`. */
const NAMES: readonly CauseName[] = Array.from(
  { length: DEFAULTED },
  (_, code) => ROWS.find(([, row]) => row.code === code)?.[0] ?? 'absent',
);

/** One bit for each code whose cells hold a value. */
const KNOWN = ROWS.reduce((bits, [, { code, isKnown: known }]) => (known ? bits | (1 << code) : bits), 0);

/** True if the cell holds a value: present, stale or defaulted. False for undefined, which means no cell. */
export function isKnown(status: number | undefined): boolean {
  return status !== undefined && (status >= DEFAULTED || ((KNOWN >> status) & 1) === 1);
}

/** The status of a cell, by its index in a column's `status`; absent if there is no such cell. */
export function statusAt(statuses: Uint8Array, cell: number): number {
  return statuses[cell] ?? Status.absent;
}

/** The name of a status; `defaulted` for any defaulted cell. */
export function statusName(status: number): StatusName {
  return status >= DEFAULTED ? 'defaulted' : (NAMES[status] ?? 'absent');
}

/** Why a defaulted cell has no value of its own; undefined for other cells. */
export function defaultedCause(status: number): StatusName | undefined {
  return status >= DEFAULTED ? NAMES[status & (DEFAULTED - 1)] : undefined;
}

/**
 * The name of a status in Feast. A defaulted cell has the name of its cause, so a default never looks like a stored
 * value.
 */
export function feastStatus(status: number): FeastStatus {
  return STATUSES[NAMES[status & (DEFAULTED - 1)] ?? 'absent'].feast;
}
