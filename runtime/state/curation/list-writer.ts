import { MillraceError } from '../../ground/api/errors.js';
import { ENOUGH, type Diagnostic } from '../../project/config/diagnostics/diagnostics.js';
import type { CurationRule } from '../../project/config/model/curation.js';
import { readFields, refuseOthers, textField, type BodyFields } from '../../ground/core/body-fields.js';
import { AS_WORD, didYouMean } from '../../ground/core/nearest.js';
import { shownName, Violations } from '../../ground/core/violations.js';
import { curationKey } from '../store/keys.js';
import type { Store } from '../store/store.js';
import { unconfirmed } from '../store/unconfirmed.js';
import type { CurationLists, ListState } from './curation-lists.js';
import type { CurationWatch } from './curation-watch.js';
import {
  decodeList,
  EMPTY_LIST,
  encodeList,
  readSentRules,
  rulesVersion,
  withCampaigns,
  type SentRules,
  type StoredList,
} from './stored-rules.js';

/** The most rules that a list can have over the API, also those that its campaigns become. */
export const MOST_RULES = 10_000;
const MOST_TRIES = 20;

export const LIST_BODY = { list: { ...textField('the name of a list'), missing: 'wrong_type' } };

export interface ListWriterParts {
  readonly lists: CurationLists;
  readonly watch: CurationWatch;
  readonly store: Pick<Store, 'read' | 'swap' | 'write' | 'remove'>;
  /** Start of every store key. */
  readonly prefix: string;
  /** Which of some ids are not in the index, for a list. */
  readonly unknownIds: (list: string, ids: readonly string[]) => Promise<readonly string[]>;
}

/** A change of a list that was stored. */
export interface StoredChange {
  /** Empty if the list has no record. */
  readonly version: string;
  readonly rules: readonly CurationRule[];
  /** Ids of the rules that are not in the index. */
  readonly unknown: readonly string[];
}

/** What replaces a part of what a list has. */
type ListEdit = Partial<Pick<StoredList, 'campaigns' | 'publishes'>> & { readonly sent?: SentRules };

/**
 * Says what changes; undefined if nothing does.
 * @param stored undefined if it cannot be read
 */
type Edit = (
  stored: StoredList | undefined,
  version: string,
) => ListEdit | undefined | Promise<ListEdit | undefined>;

/** Other processes changed the record between a read and a write. */
class Overtaken extends Error {}

/** Reads and replaces what lists have over the API. All writes of a list go through it. */
export class ListWriter {
  constructor(readonly parts: ListWriterParts) {}

  /** The list that a body names. @throws MillraceError invalid_body, also for a field that is not one of these */
  find(body: unknown, fields: BodyFields): ListState {
    const violations = new Violations();
    refuseOthers(body, fields, violations);
    const { list: name = '' } = readFields(body, LIST_BODY, violations, { expected: 'an object' });
    violations.throwIfAny('the body');
    const state = this.parts.lists.get(name);
    if (state !== undefined) return state;
    const lists = this.parts.lists.names();
    throw new MillraceError(
      'unknown_curation',
      `there is no list ${shownName(name)}; ` +
        (didYouMean(name, lists, AS_WORD) ??
          (lists.length === 0
            ? 'the project has no file in curation/'
            : `the lists are ${lists.slice(0, 20).join(', ')}`)),
    );
  }

  key(list: string): string {
    return curationKey(this.parts.prefix, list);
  }

  /**
   * Changes what a list has: all of it, or nothing. The rules serve in this process when it resolves.
   * @param edit is called again if other processes wrote the list meanwhile
   * @param prepare is awaited directly before the content is stored; what it returns undoes it if it is not
   * @throws MillraceError invalid_body if the rules have errors; curation_changed; or a code of STORE_WRITE_FAILURES
   */
  change(list: ListState, edit: Edit, prepare?: () => Promise<() => Promise<void>>): Promise<StoredChange> {
    return this.parts.watch.alone(async () => {
      for (let tries = 0; tries < MOST_TRIES; tries++)
        try {
          return await this.#try(list.name, edit, prepare);
        } catch (error) {
          if (!(error instanceof Overtaken)) throw unconfirmed(`The list ${list.name}`, error);
        }
      throw new MillraceError(
        'curation_changed',
        `others wrote the list ${list.name} at the same time; send it again`,
      );
    });
  }

  async #try(
    list: string,
    edit: Edit,
    prepare: (() => Promise<() => Promise<void>>) | undefined,
  ): Promise<StoredChange> {
    const { lists, watch, store } = this.parts;
    const key = this.key(list);
    const [before = null] = await store.read([key]);
    const stored = await decodeList(before);
    const change = await edit(stored, rulesVersion(before));
    if (change === undefined) return { version: rulesVersion(before), rules: [], unknown: [] };
    const { sent: replaced, ...kept } = change;
    const next = { ...(stored ?? EMPTY_LIST), ...kept };
    const read = replaced ?? (await readSentRules(list, next.rules, lists.zone));
    const sent = await withCampaigns(list, read, next.campaigns, lists.zone);
    const done: { unknown: readonly string[]; version: string } = { unknown: [], version: '' };
    const put = async (): Promise<void> => {
      done.unknown = await this.parts.unknownIds(list, namedIds(sent.rules));
      const after = encodeList(sent.texts, next);
      const undo = await prepare?.();
      const [outcome] = await store.swap([{ key, before, after }]);
      if (outcome !== 'stored') {
        await undo?.();
        throw new Overtaken();
      }
      done.version = rulesVersion(after);
      watch.written(list, after);
    };
    checkCount(sent.rules.length);
    const errors = sent.errors.length > 0 ? sent.errors : await lists.replace(list, 'api', sent.rules, put);
    refuse(placed(errors, sent.placeOf));
    return { rules: sent.rules, ...done };
  }
}

function checkCount(count: number): void {
  const violations = new Violations();
  if (count > MOST_RULES)
    violations.add(
      '',
      'too_many',
      `the rules and those of campaigns are at most ${MOST_RULES}, found ${count}`,
    );
  violations.throwIfAny('the list');
}

/** The ids that rules name, each once. */
function namedIds(rules: readonly CurationRule[]): readonly string[] {
  const ids = rules.flatMap(({ pins, hides, sponsors }) => [
    ...pins.map(({ id }) => id.value),
    ...hides.map(({ value }) => value),
    ...sponsors.map(({ id }) => id.value),
  ]);
  return [...new Set(ids)];
}

/** An error with its place in the body. */
export interface PlacedDiagnostic extends Diagnostic {
  /** A JSON pointer. */
  readonly pointer: string;
}

/** The errors in the order of what they are about. */
export function placed(
  errors: readonly Diagnostic[],
  placeOf: SentRules['placeOf'],
): readonly PlacedDiagnostic[] {
  return errors
    .map((one) => ({ ...one, ...(placeOf(one) ?? { pointer: '/rules', order: -1 }) }))
    .sort((a, b) => a.order - b.order);
}

/** @throws MillraceError invalid_body if there are errors */
export function refuse(errors: readonly PlacedDiagnostic[]): void {
  const violations = new Violations();
  for (const { pointer, code, message, help } of errors)
    violations.add(pointer, code, help === undefined ? message : `${message}; ${help}`);
  violations.throwIfAny(errors.length < ENOUGH ? 'the list' : 'the list, as far as it was read,');
}
