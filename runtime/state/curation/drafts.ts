import { MillraceError } from '../../ground/api/errors.js';
import { NAME_PATTERN, type JsonObject } from '../../ground/api/types.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { readBody, type BodyOf } from '../../ground/core/body-fields.js';
import { describe, isJsonObject } from '../../ground/core/value-fit.js';
import { pointerTo, shownName, Violations } from '../../ground/core/violations.js';
import { draftKey } from '../store/keys.js';
import type { CompiledRules, ListState } from './curation-lists.js';
import {
  answerOf,
  DRAFT_BODIES,
  MOST_CHANGES,
  MOST_PUBLISHES,
  publishOf,
  type DraftAnswer,
  type DraftsAnswer,
  type HistoryAnswer,
  type PublishAnswer,
  type SheetAnswer,
} from './draft-answers.js';
import { DraftPreviews } from './draft-previews.js';
import {
  applied,
  campaignOf,
  decodeDraft,
  encodeDraft,
  gone,
  isSame,
  reversed,
  type Changes,
  type Written,
} from './draft-records.js';
import { DraftStore, MOST_TRIES, overtaken, whole } from './draft-store.js';
import { placed, refuse, type ListWriter, type PlacedDiagnostic } from './list-writer.js';
import { publishChanges, type Publishing } from './publish-changes.js';
import { campaignsOfSheet, sheetOf } from './sheets.js';
import { decodeList, LONGEST_RULE, readSent, rulesVersion } from './stored-rules.js';

type Bodies = typeof DRAFT_BODIES;

/** Drafts of changes to the campaigns of lists, and what was published of them. */
export class Drafts {
  readonly #store: DraftStore;
  readonly #previews: DraftPreviews;

  constructor(
    private readonly writer: ListWriter,
    private readonly now: () => number,
  ) {
    this.#store = new DraftStore(writer);
    this.#previews = new DraftPreviews(writer, this.#store);
  }

  /** The time zone in which days of campaigns are whole. */
  get zone(): string {
    return this.writer.parts.lists.zone;
  }

  /** Saves campaigns in a draft, beside those that it has. Nothing of it is in service. */
  async put(body: unknown, author: string | undefined): Promise<DraftAnswer> {
    const [list, { draft: name, campaigns, note, version, rebase }] = this.#read(body, 'put');
    const sent = checkedCampaigns(campaigns);
    await this.#checkAlone(list, sent);
    await this.#store.remember(list.name, name);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { stored, record, draft } = await this.#store.read(list, name);
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
      if (await this.#store.swap(list.name, name, record, after)) return answerOf(name, after, next, stored);
    }
    throw overtaken(name);
  }

  /** The drafts of a list, or one of them. */
  async get(body: unknown): Promise<DraftsAnswer> {
    const [list, { draft: wanted }] = this.#read(body, 'get');
    const { store, prefix } = this.writer.parts;
    const names = wanted === undefined ? (await this.#store.names(list.name)).names : [wanted];
    const [live, ...records] = await store.read([
      this.writer.key(list.name),
      ...names.map((name) => draftKey(prefix, list.name, name)),
    ]);
    const stored = whole(list.name, await decodeList(live ?? null));
    const drafts = records.flatMap((record, at) => {
      const draft = decodeDraft(record);
      return draft === undefined || !record ? [] : [answerOf(names[at] ?? '', record, draft, stored)];
    });
    if (wanted !== undefined && drafts.length === 0) throw await this.#store.unknown(list.name, wanted);
    return { list: list.name, drafts };
  }

  /** Removes campaigns from a draft, or all of it. */
  async discard(body: unknown, author: string | undefined): Promise<DraftsAnswer> {
    const [list, { draft: name, campaigns: some }] = this.#read(body, 'discard');
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { stored, record, draft } = await this.#store.read(list, name);
      if (draft === undefined) throw await this.#store.unknown(list.name, name);
      const kept = Object.entries(draft.changes).filter(([campaign]) => some?.includes(campaign) === false);
      const next = { ...this.#written(author, draft.note), changes: Object.fromEntries(kept) };
      const after = kept.length === 0 ? gone(this.now()) : encodeDraft(next);
      if (await this.#store.swap(list.name, name, record, after))
        return {
          list: list.name,
          drafts: kept.length === 0 ? [] : [answerOf(name, after, next, stored)],
        };
    }
    throw overtaken(name);
  }

  /**
   * Saves the campaigns of a sheet in a draft: all of them, or none.
   * @throws MillraceError invalid_body with the line and the column of each wrong cell; and as `put`
   */
  async upload(body: unknown, author: string | undefined): Promise<DraftAnswer> {
    const [list, { draft, file, version }] = this.#read(body, 'upload');
    const { zone } = this.writer.parts.lists;
    const campaigns = await campaignsOfSheet(Buffer.from(file, 'base64'), zone, (sent) =>
      this.#errorsOf(list, sent),
    );
    const known = version === undefined ? {} : { version };
    return this.put({ list: list.name, draft, campaigns, ...known }, author);
  }

  /** The campaigns of a list as a sheet: those in service, or as they are once a draft is published. */
  async export(body: unknown): Promise<SheetAnswer> {
    const [list, { draft: name, form = 'plain' }] = this.#read(body, 'export');
    const { stored, draft } = await this.#store.read(list, name ?? '');
    if (name !== undefined && draft === undefined) throw await this.#store.unknown(list.name, name);
    const campaigns = applied(stored.campaigns, draft?.changes ?? {});
    const file = sheetOf(campaigns, form, this.writer.parts.lists.zone);
    return { list: list.name, campaigns: Object.keys(campaigns).length, file };
  }

  /**
   * Puts the changes of a draft in service: all of them, or none.
   * @throws MillraceError unknown_draft; curation_conflict if others published changes of the same campaigns since;
   *   curation_changed if the draft no longer has the version that is sent; and as `ListWriter.change`
   */
  async publish(body: unknown, author: string | undefined): Promise<PublishAnswer> {
    const [list, { draft: name, version }] = this.#read(body, 'publish');
    const seen: { record: Buffer | null } = { record: null };
    const published = await publishChanges(this.#publishing(author), list, { draft: name }, async () => {
      const { record, draft } = await this.#store.read(list, name);
      if (draft === undefined) throw await this.#store.unknown(list.name, name);
      checkVersion(name, version, record);
      seen.record = record;
      return draft;
    });
    // A draft that was saved meanwhile stays. So does one whose removal fails: to publish it again changes nothing.
    await this.#store.swap(list.name, name, seen.record, gone(this.now())).catch(() => false);
    return published;
  }

  /** The latest publishes of a list. */
  async history(body: unknown): Promise<HistoryAnswer> {
    const [list, { most = 20 }] = this.#read(body, 'history');
    const { publishes } = (await this.#store.read(list, '')).stored;
    const ids = publishes.slice(-most).reverse();
    const found = await this.#store.publishes(list.name, ids);
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
    return publishChanges(this.#publishing(author), list, { undoes: id }, async ({ publishes }) => {
      const [found] = publishes.includes(id) ? await this.#store.publishes(list.name, [id]) : [];
      if (found === undefined)
        throw new MillraceError(
          'unknown_publish',
          `the list ${list.name} has no publish ${shownName(id)} among its last ${MOST_PUBLISHES}`,
        );
      return { changes: reversed(found.changes) };
    });
  }

  /** What the drafts of a name change, by list. @throws MillraceError unknown_draft if no list has such a draft */
  async changes(name: string): Promise<ReadonlyMap<string, Changes>> {
    const found = new Map<string, Changes>();
    for (const list of NAME_PATTERN.test(name) ? this.writer.parts.lists.states() : []) {
      const { draft } = await this.#store.read(list, name);
      if (draft !== undefined) found.set(list.name, draft.changes);
    }
    if (found.size > 0) return found;
    throw new MillraceError('unknown_draft', `no list has a draft ${shownName(name)}`);
  }

  /**
   * The rules as they will be when the drafts of a name are published, for the steps that apply their lists.
   * @throws MillraceError unknown_draft if no list has such a draft; invalid_body if it has errors
   */
  preview(name: string): Promise<CompiledRules> {
    return this.#previews.of(name);
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

  /** Refuses campaigns with errors of their own. What they have to do with others is checked when they are published. */
  async #checkAlone(list: ListState, sent: Readonly<Record<string, JsonObject | null>>): Promise<void> {
    const campaigns = Object.fromEntries(
      Object.entries(sent).flatMap(([name, campaign]) => (campaign === null ? [] : [[name, campaign]])),
    );
    refuse(await this.#errorsOf(list, campaigns));
  }

  /** The errors that campaigns have of their own. */
  async #errorsOf(
    list: ListState,
    campaigns: Readonly<Record<string, JsonObject>>,
  ): Promise<readonly PlacedDiagnostic[]> {
    const { lists } = this.writer.parts;
    const { rules, errors, placeOf } = await readSent(list.name, { rules: [], campaigns }, lists.zone);
    const diagnostics = new Diagnostics();
    if (errors.length === 0)
      await lists.compiled(new Map([[list.name, { file: [], api: rules }]]), diagnostics);
    return placed(diagnostics.hasErrors ? diagnostics.all : errors, placeOf);
  }

  #publishing(author: string | undefined): Publishing {
    return { writer: this.writer, store: this.#store, written: (note) => this.#written(author, note) };
  }
}

function checkVersion(draft: string, wanted: string | undefined, record: Buffer | null | undefined): void {
  if (wanted === undefined || wanted === rulesVersion(record ?? null)) return;
  throw new MillraceError('curation_changed', `others saved the draft ${draft} since; read it again`);
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
