/** How Feast's feature server spells a status (FieldStatus of its ServingService.proto). */
export const FEAST_STATUSES = ['PRESENT', 'NULL_VALUE', 'NOT_FOUND', 'OUTSIDE_MAX_AGE', 'INVALID'] as const;
export type FeastStatus = (typeof FEAST_STATUSES)[number];

interface StatusRow {
  /** The byte in a column's `status`: below DEFAULTED, and never used for another status again. */
  readonly code: number;
  /** Whether a cell with this status holds a value. */
  readonly isKnown: boolean;
  readonly feast: FeastStatus;
}

/**
 * What is known of one cell of the frame: the one table of statuses, in the order of their codes. Missing, failed,
 * expired and defaulted are different things; the code travels in a Uint8Array beside the values.
 *
 * A defaulted cell keeps its cause: its status is `DEFAULTED | cause`.
 */
const STATUSES = {
  /** The value is known. */
  present: { code: 0, isKnown: true, feast: 'PRESENT' },
  /** The entity or feature row carries an explicit null. */
  null: { code: 1, isKnown: false, feast: 'NULL_VALUE' },
  /** The entity was found and does not carry the attribute; also the result of an expression without one. */
  absent: { code: 2, isKnown: false, feast: 'NOT_FOUND' },
  /** The entity is not in the index. */
  missing_entity: { code: 3, isKnown: false, feast: 'NOT_FOUND' },
  /** The feature view holds no row, or no such feature, for the key. */
  missing_feature: { code: 4, isKnown: false, feast: 'NOT_FOUND' },
  /** The feature's row is older than the view's TTL; no value is given. */
  expired: { code: 5, isKnown: false, feast: 'OUTSIDE_MAX_AGE' },
  /** The feature's row is older than the view's TTL; the view says `expired: stale`, the old value is given. */
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

/** Bit set on a cell that holds a declared default; the low bits keep the cause. */
export const DEFAULTED = 16;

/** Every name that a status has. */
export const STATUS_NAMES: readonly StatusName[] = [...ROWS.map(([name]) => name), 'defaulted'];

/** Names by code; a code that no status has reads as `absent`. */
const NAMES: readonly CauseName[] = Array.from(
  { length: DEFAULTED },
  (_, code) => ROWS.find(([, row]) => row.code === code)?.[0] ?? 'absent',
);

/** A bit for each code whose cells hold a value. */
const KNOWN = ROWS.reduce((bits, [, { code, isKnown: known }]) => (known ? bits | (1 << code) : bits), 0);

/** True where the cell holds a value: present, stale or defaulted. False for undefined: there is no such cell. */
export function isKnown(status: number | undefined): boolean {
  return status !== undefined && (status >= DEFAULTED || ((KNOWN >> status) & 1) === 1);
}

/** The status of a cell, by its place in a column's `status`; absent where there is no such cell. */
export function statusAt(statuses: Uint8Array, cell: number): number {
  return statuses[cell] ?? Status.absent;
}

/** The status's name; `defaulted` for any defaulted cell. */
export function statusName(status: number): StatusName {
  return status >= DEFAULTED ? 'defaulted' : (NAMES[status] ?? 'absent');
}

/** Why a defaulted cell had no value of its own; undefined for any other cell. */
export function defaultedCause(status: number): StatusName | undefined {
  return status >= DEFAULTED ? NAMES[status & (DEFAULTED - 1)] : undefined;
}

/** Feast's spelling. A defaulted cell has the spelling of its cause, so a default never looks like a stored value. */
export function feastStatus(status: number): FeastStatus {
  return STATUSES[NAMES[status & (DEFAULTED - 1)] ?? 'absent'].feast;
}
