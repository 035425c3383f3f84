import { randomBytes } from 'node:crypto';
import { MillraceError } from '../../ground/api/errors.js';
import { publishKey } from '../store/keys.js';
import type { ListState } from './curation-lists.js';
import { MOST_PUBLISHES, publishOf, type Conflict, type PublishAnswer } from './draft-answers.js';
import {
  applied,
  campaignOf,
  conflictsOf,
  effectOf,
  encodeDraft,
  type Changes,
  type Publish,
  type Written,
} from './draft-records.js';
import { whole, type DraftStore } from './draft-store.js';
import type { ListWriter } from './list-writer.js';
import type { StoredList } from './stored-rules.js';

/** Where changes are published, and by whom. */
export interface Publishing {
  readonly writer: ListWriter;
  readonly store: DraftStore;
  /** Who publishes, and when. */
  readonly written: (note?: string) => Written;
}

/**
 * Publishes changes: all of them, or none.
 * @throws MillraceError curation_conflict; and as `ListWriter.change`
 */
export async function publishChanges(
  { writer, store, written }: Publishing,
  list: ListState,
  what: Pick<Publish, 'draft' | 'undoes'>,
  changesOf: (
    stored: StoredList,
  ) => Promise<{ readonly changes: Changes; readonly note?: string | undefined }>,
): Promise<PublishAnswer> {
  const { store: records, prefix } = writer.parts;
  let id: string | null = null;
  let publish: Publish = { ...written(), ...what, changes: {} };
  let dropped: readonly string[] = [];
  await writer.change(
    list,
    async (found) => {
      const stored = whole(list.name, found);
      const { changes, note } = await changesOf(stored);
      await refuseConflicts(store, list.name, stored, changes);
      const effect = effectOf(stored.campaigns, changes);
      publish = { ...written(note), ...what, changes: effect };
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
      await records.write([{ key, value: encodeDraft(publish) }]);
      return () => records.remove([key]);
    },
  );
  // The list no longer names them. If they stay, they only take space.
  if (dropped.length > 0)
    await records.remove(dropped.map((one) => publishKey(prefix, list.name, one))).catch(() => undefined);
  return { list: list.name, ...publishOf(id, publish) };
}

/** @throws MillraceError curation_conflict with both sides of each campaign that others changed */
async function refuseConflicts(
  store: DraftStore,
  list: string,
  { campaigns, publishes }: StoredList,
  changes: Changes,
): Promise<void> {
  const names = conflictsOf(campaigns, changes);
  if (names.length === 0) return;
  const ids = [...publishes].reverse();
  const found = await store.publishes(list, ids);
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
