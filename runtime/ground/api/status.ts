/** How Feast's feature server spells a status (FieldStatus of its ServingService.proto). */
export const FEAST_STATUSES = ['PRESENT', 'NULL_VALUE', 'NOT_FOUND', 'OUTSIDE_MAX_AGE', 'INVALID'] as const;
export type FeastStatus = (typeof FEAST_STATUSES)[number];

interface StatusRow {
  /** The byte in a column's `status`. It is below DEFAULTED, and no other status may reuse it. */
  readonly code: number;
  /** Whether a cell with this status holds a value. */
  readonly isKnown: boolean;
  readonly feast: FeastStatus;
  /** What happened; docs/concepts.md shows it. */
  readonly summary: string;
}

/**
 * The table of statuses of a cell of the frame, in the order of their codes. Missing, failed, expired and defaulted
 * are different states. The code is in a Uint8Array beside the values.
 *
 * A defaulted cell keeps its cause: its status is `DEFAULTED | cause`.
 */
const STATUSES = {
  present: { code: 0, isKnown: true, feast: 'PRESENT', summary: 'the value was read or computed' },
  null: { code: 1, isKnown: false, feast: 'NULL_VALUE', summary: 'the stored value is null' },
  absent: {
    code: 2,
    isKnown: false,
    feast: 'NOT_FOUND',
    summary: 'the entity has no such attribute, or an expression had no result',
  },
  missing_entity: {
    code: 3,
    isKnown: false,
    feast: 'NOT_FOUND',
    summary: 'the request names no such entity, or the index does not have it',
  },
  missing_feature: {
    code: 4,
    isKnown: false,
    feast: 'NOT_FOUND',
    summary: 'the view has no row for these ids, or the row lacks the feature',
  },
  expired: {
    code: 5,
    isKnown: false,
    feast: 'OUTSIDE_MAX_AGE',
    summary: 'the row is older than its `ttl`',
  },
  /** The cell has the old value. */
  stale: {
    code: 6,
    isKnown: true,
    feast: 'OUTSIDE_MAX_AGE',
    summary: 'the row is older than its `ttl`, and the view says `expired: stale`',
  },
  failed: {
    code: 8,
    isKnown: false,
    feast: 'INVALID',
    summary: 'the value could not be read; a default never hides this',
  },
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

/** What happened to a cell, and whether it has a value, by status. */
export const STATUS_SUMMARIES: Readonly<Record<StatusName, Pick<StatusRow, 'isKnown' | 'summary'>>> = {
  ...STATUSES,
  defaulted: { isKnown: true, summary: 'the value is missing, and the view declares a default' },
};

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
