import { MillraceError } from '../../ground/api/errors.js';
import { AS_WORD, didYouMean } from '../../ground/core/nearest.js';
import { shownName, Violations } from '../../ground/core/violations.js';
import { jsonRecord, readJsonRecord } from '../store/codec/json-record.js';
import { draftKey, publishKey } from '../store/keys.js';
import { unconfirmed } from '../store/unconfirmed.js';
import type { ListState } from './curation-lists.js';
import { MOST_DRAFTS } from './draft-answers.js';
import { decodeDraft, type Draft, type Publish } from './draft-records.js';
import type { ListWriter } from './list-writer.js';
import { decodeList, type StoredList } from './stored-rules.js';

export const MOST_TRIES = 20;

/** What was read of a list and one of its drafts. */
export interface ReadDraft {
  readonly stored: StoredList;
  readonly live: Buffer | null;
  readonly record: Buffer | null;
  readonly draft: Draft | undefined;
}

/** The drafts of lists and what was published of them, as records of the store. */
export class DraftStore {
  constructor(private readonly writer: ListWriter) {}

  async read(list: ListState, name: string): Promise<ReadDraft> {
    const { store, prefix } = this.writer.parts;
    const keys = [this.writer.key(list.name), draftKey(prefix, list.name, name)];
    const [live = null, record = null] = await store.read(keys);
    return { stored: whole(list.name, await decodeList(live)), live, record, draft: decodeDraft(record) };
  }

  /** @returns whether it was stored; otherwise others changed the draft meanwhile */
  async swap(list: string, name: string, before: Buffer | null, after: Buffer): Promise<boolean> {
    const { store, prefix } = this.writer.parts;
    const [outcome] = await store
      .swap([{ key: draftKey(prefix, list, name), before, after }])
      .catch((error: unknown) => {
        throw unconfirmed(`The draft ${name}`, error);
      });
    return outcome === 'stored';
  }

  async names(list: string): Promise<{ readonly record: Buffer | null; readonly names: readonly string[] }> {
    const { store, prefix } = this.writer.parts;
    const [record = null] = await store.read([draftKey(prefix, list, '')]);
    return { record, names: ((record && readJsonRecord(record)?.['names']) ?? []) as readonly string[] };
  }

  /** Adds a name to those of the list before its draft is stored. A name without a draft is no draft. */
  async remember(list: string, name: string): Promise<void> {
    const { store, prefix } = this.writer.parts;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { record, names } = await this.names(list);
      if (names.includes(name)) return;
      const records = await store.read(names.map((one) => draftKey(prefix, list, one)));
      const open = names.filter((_, at) => decodeDraft(records[at]) !== undefined);
      if (open.length >= MOST_DRAFTS) {
        const violations = new Violations();
        violations.add('/draft', 'too_many', `the list has ${MOST_DRAFTS} drafts; publish or discard one`);
        violations.throwIfAny('the body');
      }
      if (await this.swap(list, '', record, jsonRecord({ format: 1, names: [...open, name] }))) return;
    }
    throw overtaken(name);
  }

  async unknown(list: string, name: string): Promise<MillraceError> {
    const { names } = await this.names(list);
    const guess = didYouMean(name, names, AS_WORD);
    return new MillraceError(
      'unknown_draft',
      `the list ${list} has no draft ${shownName(name)}${guess === undefined ? '' : `; ${guess}`}`,
    );
  }

  async publishes(list: string, ids: readonly string[]): Promise<readonly (Publish | undefined)[]> {
    const { store, prefix } = this.writer.parts;
    if (ids.length === 0) return [];
    const records = await store.read(ids.map((id) => publishKey(prefix, list, id)));
    return records.map(decodeDraft);
  }
}

/** @throws MillraceError curation_changed if it could not be read */
export function whole(list: string, stored: StoredList | undefined): StoredList {
  if (stored !== undefined) return stored;
  throw new MillraceError(
    'curation_changed',
    `what the list ${list} has over the API cannot be read: it is damaged, or of a later version`,
  );
}

export function overtaken(name: string): MillraceError {
  return new MillraceError(
    'curation_changed',
    `others wrote the draft ${name} at the same time; send it again`,
  );
}
