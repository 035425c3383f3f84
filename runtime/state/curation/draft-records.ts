import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../ground/api/types.js';
import { own } from '../../ground/core/value-fit.js';
import { jsonRecord, readJsonRecord } from '../store/codec/json-record.js';
import type { Campaigns } from './stored-rules.js';

/** A change of one campaign. Null: there is none. */
export interface CampaignChange {
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
}

export type Changes = Readonly<Record<string, CampaignChange>>;

/** Who wrote something, and when. */
export interface Written {
  /** The name of the key or of the person; null if the service needs no keys. */
  readonly author: string | null;
  /** ISO 8601. */
  readonly at: string;
  readonly note?: string | undefined;
}

/** A draft as it is stored. `before` is what its author saw in service. */
export interface Draft extends Written {
  readonly changes: Changes;
}

/** What was published at one time. `before` is what it replaced. */
export interface Publish extends Draft {
  /** The draft; undefined if it undoes another publish. */
  readonly draft?: string | undefined;
  readonly undoes?: string | undefined;
}

const FORMAT = 1;

export function encodeDraft(content: Draft | Publish): Buffer {
  return jsonRecord({ format: FORMAT, ...content });
}

/** The record of a draft that was published or discarded. It may be dropped soon, and counts as none. */
export function gone(now: number): Buffer {
  return jsonRecord({ format: FORMAT }, now + 60_000);
}

/** A draft or a publish. Undefined if there is none, or if it is damaged. */
export function decodeDraft(record: Buffer | null | undefined): Publish | undefined {
  const read = record ? readJsonRecord(record) : undefined;
  return read?.['format'] === FORMAT && read['changes'] !== undefined
    ? (read as unknown as Publish)
    : undefined;
}

/** The campaign of a name; null if there is none. */
export function campaignOf(campaigns: Campaigns, name: string): JsonObject | null {
  return (own(campaigns, name) as JsonObject | undefined) ?? null;
}

export const isSame = (one: unknown, other: unknown): boolean => isDeepStrictEqual(one, other);

/** The names of the campaigns that others changed, so that a change is not of what is in service. */
export function conflictsOf(campaigns: Campaigns, changes: Changes): readonly string[] {
  return Object.entries(changes).flatMap(([name, { before, after }]) => {
    const now = campaignOf(campaigns, name);
    return isSame(now, before) || isSame(now, after) ? [] : [name];
  });
}

/** What changes if changes are applied: without those that are in service already. */
export function effectOf(campaigns: Campaigns, changes: Changes): Changes {
  return Object.fromEntries(
    Object.entries(changes).flatMap(([name, { after }]) => {
      const before = campaignOf(campaigns, name);
      return isSame(before, after) ? [] : [[name, { before, after }] as const];
    }),
  );
}

export function applied(campaigns: Campaigns, changes: Changes): Campaigns {
  const all = new Map(Object.entries(campaigns));
  for (const [name, { after }] of Object.entries(changes))
    if (after === null) all.delete(name);
    else all.set(name, after);
  return Object.fromEntries([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The changes that undo some. */
export function reversed(changes: Changes): Changes {
  return Object.fromEntries(
    Object.entries(changes).map(([name, { before, after }]) => [name, { before: after, after: before }]),
  );
}

/** The keys of a campaign that a change touches. */
export function changedKeys({ before, after }: CampaignChange): readonly string[] {
  const keys = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...keys].filter((key) => !isSame(before?.[key], after?.[key]));
}
