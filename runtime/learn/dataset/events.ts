/**
 * What feedback becomes on its way to the rankings: one line of JSON each in a partition. `Linked` is feedback that names
 * its request, in the partition of the request. `Loose` is feedback without a request id, and the clicks that it may
 * belong to, in the partition of the user and the candidate.
 */

/** How feedback found its request. */
export type LinkedBy = 'request' | 'last_click';

export interface Linked {
  readonly by: LinkedBy;
  readonly request: string;
  /** The kind, e.g. `click`. */
  readonly event: string;
  readonly subjectType: string;
  readonly subject: string;
  /** Of the event, in epoch milliseconds. */
  readonly time: number;
}

/** A request that is in the ledger but not in the data set, so that its feedback is no orphan. */
export interface Outside {
  readonly request: string;
}

export interface Loose {
  /** The user, e.g. `user=u1`. */
  readonly owner: string;
  readonly subjectType: string;
  readonly subject: string;
  readonly time: number;
  readonly event: string;
  /** The request of a click; undefined for what looks for its click. */
  readonly request: string | undefined;
  /** What the client calls it. */
  readonly id: string | undefined;
}

type Line = readonly (string | number | null)[];

const LINKED_BY: readonly LinkedBy[] = ['request', 'last_click'];

export function linkedLine({ by, request, event, subjectType, subject, time }: Linked): Line {
  return [request, LINKED_BY.indexOf(by), event, subjectType, subject, time];
}

export function outsideLine({ request }: Outside): Line {
  return [request];
}

export function readLinked(line: unknown): Linked | Outside {
  const [request, by, event, subjectType, subject, time] = line as [
    string,
    number?,
    string?,
    string?,
    string?,
    number?,
  ];
  if (by === undefined) return { request };
  return {
    by: LINKED_BY[by] ?? 'request',
    request,
    event: event ?? '',
    subjectType: subjectType ?? '',
    subject: subject ?? '',
    time: time ?? NaN,
  };
}

export function looseLine({ owner, subjectType, subject, time, event, request, id }: Loose): Line {
  return [owner, subjectType, subject, time, event, request ?? null, id ?? null];
}

export function readLoose(line: unknown): Loose {
  const [owner, subjectType, subject, time, event, request, id] = line as [
    string,
    string,
    string,
    number,
    string,
    string | null,
    string | null,
  ];
  return { owner, subjectType, subject, time, event, request: request ?? undefined, id: id ?? undefined };
}
