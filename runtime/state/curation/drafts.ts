import { randomBytes } from 'node:crypto';
import { MillraceError } from '../../ground/api/errors.js';
import { NAME_PATTERN, type JsonObject } from '../../ground/api/types.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import {
  field,
  FLAG_FIELD,
  objectField,
  optional,
  readBody,
  textField,
  wholeField,
  type BodyFields,
  type BodyOf,
} from '../../ground/core/body-fields.js';
import { AS_WORD, didYouMean } from '../../ground/core/nearest.js';
import { describe, isJsonObject } from '../../ground/core/value-fit.js';
import { pointerTo, shownName, Violations } from '../../ground/core/violations.js';
import { jsonRecord, readJsonRecord } from '../store/codec/json-record.js';
import { draftKey, publishKey } from '../store/keys.js';
import { unconfirmed } from '../store/unconfirmed.js';
import type { CompiledRules, ListState } from './curation-lists.js';
import {
  applied,
  campaignOf,
  changedKeys,
  conflictsOf,
  decodeDraft,
  effectOf,
  encodeDraft,
  gone,
  isSame,
  reversed,
  type Changes,
  type Draft,
  type Publish,
  type Written,
} from './draft-records.js';
import { LIST_BODY, refuse, type ListWriter } from './list-writer.js';
import { decodeList, LONGEST_RULE, readSent, rulesVersion, type StoredList } from './stored-rules.js';

/** The most drafts of a list, the most campaigns of a draft, and how many publishes are kept. */
export const MOST_DRAFTS = 50;
export const MOST_CHANGES = 100;
export const MOST_PUBLISHES = 100;
const MOST_TRIES = 20;
const MOST_PREVIEWS = 20;

const NAME = field(
  { type: 'string', pattern: NAME_PATTERN.source, maxLength: 100 },
  (value): value is string => typeof value === 'string' && value.length <= 100 && NAME_PATTERN.test(value),
  'a name with small letters, digits and underscores',
);
const NOTE = field(
  { type: 'string', maxLength: 500 },
  (value): value is string => typeof value === 'string' && value.length <= 500,
  'a text of at most 500 characters',
);

const NAMES = field(
  { type: 'array', maxItems: MOST_CHANGES, items: { type: 'string' } },
  (value): value is readonly string[] =>
    Array.isArray(value) && value.length <= MOST_CHANGES && value.every((one) => typeof one === 'string'),
  `a list of at most ${MOST_CHANGES} names`,
);

/** The fields of the bodies. */
export const DRAFT_BODIES = {
  put: {
    ...LIST_BODY,
    draft: NAME,
    campaigns: objectField('campaigns by name'),
    note: optional(NOTE),
    version: optional(textField()),
    rebase: optional(FLAG_FIELD),
  },
  get: { ...LIST_BODY, draft: optional(NAME) },
  discard: { ...LIST_BODY, draft: NAME, campaigns: optional(NAMES) },
  publish: { ...LIST_BODY, draft: NAME, version: optional(textField()) },
  history: { ...LIST_BODY, most: optional(wholeField(1, MOST_PUBLISHES)) },
  undo: { ...LIST_BODY, publish: textField('the id of a publish') },
} as const satisfies Readonly<Record<string, BodyFields>>;

/** A change of a campaign, as answers have it. */
export interface AnsweredChange {
  readonly campaign: string;
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  /** The keys that differ, such as `pin`. */
  readonly keys: readonly string[];
}

export interface DraftAnswer extends Written {
  readonly draft: string;
  /** Differs after every write of the draft. */
  readonly version: string;
  readonly changes: readonly AnsweredChange[];
  /** The campaigns that others published since. */
  readonly conflicts: readonly string[];
}

export interface DraftsAnswer {
  readonly list: string;
  readonly drafts: readonly DraftAnswer[];
}

export interface PublishAnswer extends Written {
  readonly list: string;
  /** The id; null if nothing changed, since it was in service already. */
  readonly publish: string | null;
  readonly draft: string | null;
  readonly undoes: string | null;
  readonly changes: readonly AnsweredChange[];
}

export interface HistoryAnswer {
  readonly list: string;
  /** The latest first. */
  readonly publishes: readonly Omit<PublishAnswer, 'list'>[];
}

/** The other side of a change that cannot be published or undone. */
interface Conflict extends Partial<Written> {
  readonly campaign: string;
  readonly yours: JsonObject | null;
  readonly theirs: JsonObject | null;
  /** What changed it since; null if that is no longer known. */
  readonly publish: string | null;
}

type Bodies = typeof DRAFT_BODIES;

/** What was read of a list and one of its drafts. */
interface ReadDraft {
  readonly stored: StoredList;
  readonly live: Buffer | null;
  readonly record: Buffer | null;
  readonly draft: Draft | undefined;
}

/** Drafts of changes to the campaigns of lists, and what was published of them. */
export class Drafts {
  /** By list and draft: the rules of a preview, and what they were made of. */
  readonly #previews = new Map<
    string,
    { readonly made: string; readonly rules: CompiledRules; readonly file: ListState['rules']['file'] }
  >();

  constructor(
    private readonly writer: ListWriter,
    private readonly now: () => number,
  ) {}

  /** Saves campaigns in a draft, beside those that it has. Nothing of it is in service. */
  async put(body: unknown, author: string | undefined): Promise<DraftAnswer> {
    const [list, { draft: name, campaigns, note, version, rebase }] = this.#read(body, 'put');
    const sent = checkedCampaigns(campaigns);
    await this.#checkAlone(list, sent);
    await this.#remember(list.name, name);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { stored, record, draft } = await this.#readDraft(list, name);
      checkVersion(name, version, draft && record);
      const changes: Record<string, Changes[string]> = { ...draft?.changes };
      for (const [campaign, after] of Object.entries(sent)) {
        const known = rebase !== true && Object.hasOwn(changes, campaign) ? changes[campaign] : undefined;
        const before = known === undefined ? campaignOf(stored.campaigns, campaign) : known.before;
        if (isSame(before, after)) Reflect.deleteProperty(changes, campaign);
        else changes[campaign] = { before, after };
      }
      checkChanges(changes);
      const next = { ...this.#written(author, note ?? draft?.note), changes };
      const after = encodeDraft(next);
      if (await this.#swap(list.name, name, record, after)) return answerOf(name, after, next, stored);
    }
    throw overtaken(name);
  }

  /** The drafts of a list, or one of them. */
  async get(body: unknown): Promise<DraftsAnswer> {
    const [list, { draft: wanted }] = this.#read(body, 'get');
    const { store, prefix } = this.writer.parts;
    const names = wanted === undefined ? (await this.#names(list.name)).names : [wanted];
    const [live, ...records] = await store.read([
      this.writer.key(list.name),
      ...names.map((name) => draftKey(prefix, list.name, name)),
    ]);
    const stored = whole(list.name, await decodeList(live ?? null));
    const drafts = records.flatMap((record, at) => {
      const draft = decodeDraft(record);
      return draft === undefined || !record ? [] : [answerOf(names[at] ?? '', record, draft, stored)];
    });
    if (wanted !== undefined && drafts.length === 0) throw await this.#unknownDraft(list.name, wanted);
    return { list: list.name, drafts };
  }

  /** Removes campaigns from a draft, or all of it. */
  async discard(body: unknown, author: string | undefined): Promise<DraftsAnswer> {
    const [list, { draft: name, campaigns: some }] = this.#read(body, 'discard');
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { stored, record, draft } = await this.#readDraft(list, name);
      if (draft === undefined) throw await this.#unknownDraft(list.name, name);
      const kept = Object.entries(draft.changes).filter(([campaign]) => some?.includes(campaign) === false);
      const next = { ...this.#written(author, draft.note), changes: Object.fromEntries(kept) };
      const after = kept.length === 0 ? gone(this.now()) : encodeDraft(next);
      if (await this.#swap(list.name, name, record, after))
        return {
          list: list.name,
          drafts: kept.length === 0 ? [] : [answerOf(name, after, next, stored)],
        };
    }
    throw overtaken(name);
  }

  /**
   * Puts the changes of a draft in service: all of them, or none.
   * @throws MillraceError unknown_draft; curation_conflict if others published changes of the same campaigns since;
   *   curation_changed if the draft no longer has the version that is sent; and as `ListWriter.change`
   */
  async publish(body: unknown, author: string | undefined): Promise<PublishAnswer> {
    const [list, { draft: name, version }] = this.#read(body, 'publish');
    const seen: { record: Buffer | null } = { record: null };
    const published = await this.#publish(list, author, { draft: name }, async () => {
      const { record, draft } = await this.#readDraft(list, name);
      if (draft === undefined) throw await this.#unknownDraft(list.name, name);
      checkVersion(name, version, record);
      seen.record = record;
      return draft;
    });
    // A draft that was saved meanwhile stays. So does one whose removal fails: to publish it again changes nothing.
    await this.#swap(list.name, name, seen.record, gone(this.now())).catch(() => false);
    return published;
  }

  /** The latest publishes of a list. */
  async history(body: unknown): Promise<HistoryAnswer> {
    const [list, { most = 20 }] = this.#read(body, 'history');
    const { publishes } = (await this.#readDraft(list, '')).stored;
    const ids = publishes.slice(-most).reverse();
    const found = await this.#publishes(list.name, ids);
    return {
      list: list.name,
      publishes: found.flatMap((one, at) => (one === undefined ? [] : [publishOf(ids[at] ?? null, one)])),
    };
  }

  /**
   * Publishes the reverse of a publish: its changes alone.
   * @throws MillraceError unknown_publish; curation_conflict if a later publish changed the same campaigns; and as `publish`
   */
  async undo(body: unknown, author: string | undefined): Promise<PublishAnswer> {
    const [list, { publish: id }] = this.#read(body, 'undo');
    return this.#publish(list, author, { undoes: id }, async ({ publishes }) => {
      const [found] = publishes.includes(id) ? await this.#publishes(list.name, [id]) : [];
      if (found === undefined)
        throw new MillraceError(
          'unknown_publish',
          `the list ${list.name} has no publish ${shownName(id)} among its last ${MOST_PUBLISHES}`,
        );
      return { changes: reversed(found.changes) };
    });
  }

  /**
   * The rules as they will be when the drafts of a name are published, for the steps that apply their lists.
   * @throws MillraceError unknown_draft if no list has such a draft; invalid_body if it has errors
   */
  async preview(name: string): Promise<CompiledRules> {
    const { lists } = this.writer.parts;
    const found: CompiledRules[] = [];
    for (const state of NAME_PATTERN.test(name) ? lists.states() : []) {
      const read = await this.#readDraft(state, name);
      if (read.draft !== undefined) found.push(await this.#preview(state, name, read, read.draft));
    }
    if (found.length === 0)
      throw new MillraceError('unknown_draft', `no list has a draft ${shownName(name)}`);
    return new Map(found.flatMap((one) => [...one]));
  }

  async #preview(
    list: ListState,
    name: string,
    { stored, live, record }: ReadDraft,
    { changes }: Draft,
  ): Promise<CompiledRules> {
    const { lists } = this.writer.parts;
    const campaigns = applied(stored.campaigns, changes);
    const key = `${list.name} ${name}`;
    const made = `${rulesVersion(live)} ${rulesVersion(record)}`;
    const known = this.#previews.get(key);
    if (known?.made === made && known.file === list.rules.file) return known.rules;
    const { rules, errors, placeOf } = await readSent(list.name, { ...stored, campaigns }, lists.zone);
    const diagnostics = new Diagnostics();
    const compiled =
      errors.length > 0
        ? undefined
        : await lists.compiled(list.name, { file: list.rules.file, api: rules }, diagnostics);
    if (compiled === undefined) {
      refuse([...errors, ...diagnostics.all], placeOf);
      throw new Error('rules with errors are refused');
    }
    if (this.#previews.size >= MOST_PREVIEWS) this.#previews.clear();
    this.#previews.set(key, { made, file: list.rules.file, rules: compiled });
    return compiled;
  }

  #read<Name extends keyof Bodies>(body: unknown, name: Name): [ListState, BodyOf<Bodies[Name]>] {
    const fields: Bodies[Name] = DRAFT_BODIES[name];
    const list = this.writer.find(body, fields);
    return [list, readBody<Bodies[Name]>(body, fields, 'the body')];
  }

  #written(author: string | undefined, note?: string): Written {
    return {
      author: author ?? null,
      at: new Date(this.now()).toISOString(),
      ...(note === undefined ? {} : { note }),
    };
  }

  async #readDraft(list: ListState, name: string): Promise<ReadDraft> {
    const { store, prefix } = this.writer.parts;
    const keys = [this.writer.key(list.name), draftKey(prefix, list.name, name)];
    const [live = null, record = null] = await store.read(keys);
    return { stored: whole(list.name, await decodeList(live)), live, record, draft: decodeDraft(record) };
  }

  /** @returns whether it was stored; otherwise others changed the draft meanwhile */
  async #swap(list: string, name: string, before: Buffer | null, after: Buffer): Promise<boolean> {
    const { store, prefix } = this.writer.parts;
    const [outcome] = await store
      .swap([{ key: draftKey(prefix, list, name), before, after }])
      .catch((error: unknown) => {
        throw unconfirmed(`The draft ${name}`, error);
      });
    return outcome === 'stored';
  }

  async #names(list: string): Promise<{ readonly record: Buffer | null; readonly names: readonly string[] }> {
    const { store, prefix } = this.writer.parts;
    const [record = null] = await store.read([draftKey(prefix, list, '')]);
    return { record, names: ((record && readJsonRecord(record)?.['names']) ?? []) as readonly string[] };
  }

  /** Adds a name to those of the list before its draft is stored. A name without a draft is no draft. */
  async #remember(list: string, name: string): Promise<void> {
    const { store, prefix } = this.writer.parts;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { record, names } = await this.#names(list);
      if (names.includes(name)) return;
      const records = await store.read(names.map((one) => draftKey(prefix, list, one)));
      const open = names.filter((_, at) => decodeDraft(records[at]) !== undefined);
      if (open.length >= MOST_DRAFTS) {
        const violations = new Violations();
        violations.add('/draft', 'too_many', `the list has ${MOST_DRAFTS} drafts; publish or discard one`);
        violations.throwIfAny('the body');
      }
      if (await this.#swap(list, '', record, jsonRecord({ format: 1, names: [...open, name] }))) return;
    }
    throw overtaken(name);
  }

  async #unknownDraft(list: string, name: string): Promise<MillraceError> {
    const { names } = await this.#names(list);
    const guess = didYouMean(name, names, AS_WORD);
    return new MillraceError(
      'unknown_draft',
      `the list ${list} has no draft ${shownName(name)}${guess === undefined ? '' : `; ${guess}`}`,
    );
  }

  /** Refuses campaigns with errors of their own. What they have to do with others is checked when they are published. */
  async #checkAlone(list: ListState, sent: Readonly<Record<string, JsonObject | null>>): Promise<void> {
    const { lists } = this.writer.parts;
    const campaigns = Object.fromEntries(
      Object.entries(sent).flatMap(([name, campaign]) => (campaign === null ? [] : [[name, campaign]])),
    );
    const { rules, errors, placeOf } = await readSent(list.name, { rules: [], campaigns }, lists.zone);
    const diagnostics = new Diagnostics();
    if (errors.length === 0) await lists.compiled(list.name, { file: [], api: rules }, diagnostics);
    refuse(diagnostics.hasErrors ? diagnostics.all : errors, placeOf);
  }

  async #publish(
    list: ListState,
    author: string | undefined,
    what: Pick<Publish, 'draft' | 'undoes'>,
    changesOf: (
      stored: StoredList,
    ) => Promise<{ readonly changes: Changes; readonly note?: string | undefined }>,
  ): Promise<PublishAnswer> {
    const { store, prefix } = this.writer.parts;
    let id: string | null = null;
    let publish: Publish = { ...this.#written(author), ...what, changes: {} };
    let dropped: readonly string[] = [];
    await this.writer.change(
      list,
      async (found) => {
        const stored = whole(list.name, found);
        const { changes, note } = await changesOf(stored);
        await this.#refuseConflicts(list.name, stored, changes);
        const effect = effectOf(stored.campaigns, changes);
        publish = { ...this.#written(author, note), ...what, changes: effect };
        if (Object.keys(effect).length === 0) {
          id = null;
          return undefined;
        }
        const number = Number(/^\d+/.exec(stored.publishes.at(-1) ?? '')?.[0] ?? 0) + 1;
        // Two instances may publish at once: neither overwrites what the other stores.
        id = `${number}-${randomBytes(3).toString('hex')}`;
        const publishes = [...stored.publishes, id];
        dropped = publishes.slice(0, -MOST_PUBLISHES);
        return {
          campaigns: applied(stored.campaigns, effect),
          publishes: publishes.slice(-MOST_PUBLISHES),
        };
      },
      // Before the list names it: a list never names what is not stored.
      async () => {
        const key = publishKey(prefix, list.name, id ?? '');
        await store.write([{ key, value: encodeDraft(publish) }]);
        return () => store.remove([key]);
      },
    );
    // The list no longer names them. If they stay, they only take space.
    if (dropped.length > 0)
      await store.remove(dropped.map((one) => publishKey(prefix, list.name, one))).catch(() => undefined);
    return { list: list.name, ...publishOf(id, publish) };
  }

  async #publishes(list: string, ids: readonly string[]): Promise<readonly (Publish | undefined)[]> {
    const { store, prefix } = this.writer.parts;
    if (ids.length === 0) return [];
    const records = await store.read(ids.map((id) => publishKey(prefix, list, id)));
    return records.map(decodeDraft);
  }

  /** @throws MillraceError curation_conflict with both sides of each campaign that others changed */
  async #refuseConflicts(
    list: string,
    { campaigns, publishes }: StoredList,
    changes: Changes,
  ): Promise<void> {
    const names = conflictsOf(campaigns, changes);
    if (names.length === 0) return;
    const ids = [...publishes].reverse();
    const found = await this.#publishes(list, ids);
    const conflicts = names.map((name): Conflict => {
      const at = found.findIndex((one) => one !== undefined && Object.hasOwn(one.changes, name));
      const { author = null, at: time = '' } = found[at] ?? {};
      return {
        campaign: name,
        yours: changes[name]?.after ?? null,
        theirs: campaignOf(campaigns, name),
        publish: ids[at] ?? null,
        ...(at === -1 ? {} : { author, at: time }),
      };
    });
    const told = conflicts.map(
      ({ campaign, publish, author, at }) =>
        `${campaign}${publish === null ? '' : `, which ${author ?? 'somebody'} published as ${publish} at ${at ?? ''}`}`,
    );
    throw new MillraceError(
      'curation_conflict',
      `others changed the same campaigns since: ${told.slice(0, 5).join('; ')}`,
      { extensions: { conflicts: conflicts.slice(0, 20) } },
    );
  }
}

/** @throws MillraceError curation_changed if it could not be read */
function whole(list: string, stored: StoredList | undefined): StoredList {
  if (stored !== undefined) return stored;
  throw new MillraceError(
    'curation_changed',
    `what the list ${list} has over the API cannot be read: it is damaged, or of a later version`,
  );
}

function checkVersion(draft: string, wanted: string | undefined, record: Buffer | null | undefined): void {
  if (wanted === undefined || wanted === rulesVersion(record ?? null)) return;
  throw new MillraceError('curation_changed', `others saved the draft ${draft} since; read it again`);
}

function overtaken(name: string): MillraceError {
  return new MillraceError(
    'curation_changed',
    `others wrote the draft ${name} at the same time; send it again`,
  );
}

function checkedCampaigns(campaigns: JsonObject): Readonly<Record<string, JsonObject | null>> {
  const violations = new Violations();
  for (const [name, campaign] of Object.entries(campaigns)) {
    const pointer = pointerTo('/campaigns', name);
    if (!NAME_PATTERN.test(name)) violations.add(pointer, 'invalid_name', 'expected the name of a campaign');
    else if (campaign !== null && !isJsonObject(campaign))
      violations.add(pointer, 'wrong_type', `expected a campaign, found ${describe(campaign)}`);
    else if (JSON.stringify(campaign).length > LONGEST_RULE)
      violations.add(pointer, 'too_long', `a campaign has at most ${LONGEST_RULE} characters of JSON`);
  }
  violations.throwIfAny('the body');
  return campaigns as Readonly<Record<string, JsonObject | null>>;
}

function checkChanges(changes: Changes): void {
  const violations = new Violations();
  const count = Object.keys(changes).length;
  if (count > MOST_CHANGES)
    violations.add(
      '/campaigns',
      'too_many',
      `a draft changes at most ${MOST_CHANGES} campaigns, found ${count}`,
    );
  violations.throwIfAny('the body');
}

function changesOf(changes: Changes): readonly AnsweredChange[] {
  return Object.entries(changes).map(([campaign, change]) => ({
    campaign,
    ...change,
    keys: changedKeys(change),
  }));
}

function answerOf(name: string, record: Buffer, draft: Draft, { campaigns }: StoredList): DraftAnswer {
  const { author, at, note, changes } = draft;
  return {
    draft: name,
    version: rulesVersion(record),
    author,
    at,
    ...(note === undefined ? {} : { note }),
    changes: changesOf(changes),
    conflicts: conflictsOf(campaigns, changes),
  };
}

function publishOf(
  publish: string | null,
  { author, at, note, changes, ...more }: Publish,
): Omit<PublishAnswer, 'list'> {
  return {
    publish,
    author,
    at,
    ...(note === undefined ? {} : { note }),
    draft: more.draft ?? null,
    undoes: more.undoes ?? null,
    changes: changesOf(changes),
  };
}
