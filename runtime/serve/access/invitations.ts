import {
  allFields,
  field,
  nameField,
  optional,
  readBody,
  readFields,
  type BodyOf,
} from '../../ground/core/body-fields.js';
import { MillraceError } from '../../ground/api/errors.js';
import { NAME_PATTERN } from '../../ground/api/types.js';
import { nearest } from '../../ground/core/nearest.js';
import { describe } from '../../ground/core/value-fit.js';
import { shownName, Violations } from '../../ground/core/violations.js';
import { ROLE_NAMES } from '../../project/settings/edge-settings.js';
import { jsonRecord } from '../../state/store/codec/json-record.js';
import { VERSIONED_HEAD } from '../../state/store/codec/versioned-record.js';
import { invitationsKey } from '../../state/store/keys.js';
import type { Store } from '../../state/store/store.js';
import { unconfirmed } from '../../state/store/unconfirmed.js';
import { stateOf, type ApiKey, type KeyState } from './api-key.js';
import { KeyRing } from './key-ring.js';
import { createKey, hashOfKey } from './key-text.js';
import { isKeyName, KEY_NAME, KEY_NAME_EXPECTED, keysOf, parseKeys, shownOf, timeText } from './keys-file.js';
import { ROLES, type Role } from './scopes.js';

/** How long the link of an invitation can be opened, by default and at most. */
export const INVITATION_DAYS = 7;
const MOST_DAYS = 90;
const DAY_MS = 86_400_000;
/** How long a session lasts. */
export const SESSION_SECONDS = 12 * 3_600;
/** How long an answer of the store counts: so long after its end another instance may still accept a session. */
export const KNOWN_MS = 1000;
/** The most invitations that the store keeps, and the most pipelines of one. */
const MOST_INVITATIONS = 1000;
const MOST_PIPELINES = 100;
/** Each loser of a race reads again. */
const MOST_TRIES = 20;

const isRole = (value: unknown): value is Role =>
  typeof value === 'string' && (ROLE_NAMES as readonly string[]).includes(value);

/** The bodies of the routes. */
export const INVITE_BODY = {
  name: field(
    { type: 'string', pattern: KEY_NAME.source },
    (value): value is string => typeof value === 'string' && isKeyName(value),
    KEY_NAME_EXPECTED,
  ),
  role: field({ type: 'string', enum: ROLE_NAMES }, isRole, `one of ${ROLE_NAMES.join(', ')}`),
  pipelines: optional(
    field(
      { type: 'array', minItems: 1, maxItems: MOST_PIPELINES, items: { type: 'string' } },
      (value): value is readonly string[] =>
        Array.isArray(value) &&
        value.length > 0 &&
        value.length <= MOST_PIPELINES &&
        value.every((one) => typeof one === 'string' && NAME_PATTERN.test(one)),
      `a list of 1 to ${MOST_PIPELINES} names of pipelines`,
    ),
  ),
  expires: optional(
    field(
      { type: 'string' },
      (value): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value),
      'a time of ISO 8601',
    ),
  ),
};
export const REVOKE_BODY = { invitation: nameField('the id of an invitation, or the name of the person') };

/** An invitation as answers have it: the members of a key without its hash. */
export interface InvitationAnswer {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly pipelines?: readonly string[];
  readonly entity_types?: readonly string[];
  readonly invites: true;
  readonly created: string;
  /** Until when its link opens a session. */
  readonly expires: string;
  readonly revoked?: string;
  readonly state: KeyState;
}

/** A new invitation. Nothing else has its text. */
export interface InvitedAnswer extends InvitationAnswer {
  /** What stands after `#` in the link. */
  readonly invitation: string;
}

/** The keys of the file. */
interface FileKeys {
  find(text: string): ApiKey | undefined;
  byId(id: string): ApiKey | undefined;
}

export interface InvitationParts {
  readonly store: Store;
  readonly prefix: string;
  /** Undefined if requests need no keys. */
  readonly keys: FileKeys | undefined;
  readonly now: () => number;
}

/**
 * The invitations in service: those of the keys file, and those that were made over HTTP, which one record of the store
 * holds. It has the form of a keys file, hashes alone. All instances of a service read it, at most once in KNOWN_MS.
 */
export class Invitations {
  #ring = new KeyRing([]);
  #readAt = -Infinity;

  constructor(private readonly parts: InvitationParts) {}

  /** False if requests need no keys: nobody has to sign in then. */
  get areNeeded(): boolean {
    return this.parts.keys !== undefined;
  }

  /** Returns the invitation, or the key, with this text, as `refresh` read it. */
  find(text: string): ApiKey | undefined {
    return this.parts.keys?.find(text) ?? this.#ring.find(text);
  }

  byId(id: string): ApiKey | undefined {
    return this.parts.keys?.byId(id) ?? this.#ring.keys.find((key) => key.id === id);
  }

  /**
   * Reads the record, unless it was read within `maxAgeMs`. If that fails, the invitations that were read before count.
   * @throws MillraceError with a code of STORE_READ_FAILURES; keys_damaged
   */
  async refresh(maxAgeMs: number): Promise<void> {
    const { keys, now } = this.parts;
    const at = now();
    if (keys === undefined || at - this.#readAt < maxAgeMs) return;
    const { kept } = await this.#read();
    this.#use(kept, at);
  }

  /** @throws MillraceError with a code of STORE_READ_FAILURES; keys_damaged */
  async list(): Promise<{ readonly invitations: readonly InvitationAnswer[] }> {
    await this.refresh(0);
    return { invitations: this.#ring.keys.map((key) => this.#shown(key)) };
  }

  /**
   * Invites a person. What limits the key of the inviter limits the invitation.
   * @param by undefined if it has no limits
   * @param pipelines those of the project
   * @throws MillraceError invalid_body, key_not_allowed, invitation_invalid, invitations_full, or a code of
   *   STORE_WRITE_FAILURES
   */
  async create(body: unknown, by: ApiKey | undefined, pipelines: readonly string[]): Promise<InvitedAnswer> {
    const now = this.parts.now();
    const {
      name,
      role,
      expires = now + INVITATION_DAYS * DAY_MS,
      ...asked
    } = readInvite(body, now, pipelines);
    if (!this.areNeeded)
      throw new MillraceError('invitation_invalid', 'this service needs no keys, so nobody has to sign in');
    const may = asked.pipelines ?? by?.pipelines;
    const foreign = may?.find((one) => by?.pipelines?.includes(one) === false);
    if (foreign !== undefined)
      throw new MillraceError('key_not_allowed', `the key may not use the pipeline ${foreign}`);
    const { id, text } = createKey();
    const key: ApiKey = {
      ...{ id, name, hash: hashOfKey(text), scopes: ROLES[role] },
      ...(may === undefined ? {} : { pipelines: may }),
      ...(by?.entityTypes === undefined ? {} : { entityTypes: by.entityTypes }),
      ...{ invites: true, created: now, expires },
    };
    await this.#change((kept) => [...withRoom(kept), key]);
    return { invitation: text, ...this.#shown(key) };
  }

  /**
   * Revokes an invitation, and so the session that it opened.
   * @throws MillraceError invalid_body, unknown_invitation, or a code of STORE_WRITE_FAILURES
   */
  async revoke(body: unknown): Promise<InvitationAnswer> {
    const { invitation: wanted } = readBody(body, REVOKE_BODY, 'the request');
    const revoked = this.parts.now();
    let found: ApiKey | undefined;
    await this.#change((kept) => {
      const one = oneOf(kept, wanted, this.parts.keys?.byId(wanted) !== undefined);
      return kept.map((key) => (key === one ? (found = { ...key, revoked }) : key));
    });
    if (found === undefined) throw new Error('one invitation is revoked');
    return this.#shown(found);
  }

  #shown(key: ApiKey): InvitationAnswer {
    return { ...shownOf(key), state: stateOf(key, this.parts.now()) } as unknown as InvitationAnswer;
  }

  async #read(): Promise<{ readonly before: Buffer | null; readonly kept: readonly ApiKey[] }> {
    const { store, prefix } = this.parts;
    const [before = null] = await store.read([invitationsKey(prefix)]);
    return { before, kept: before === null ? [] : parseKeys(before.subarray(VERSIONED_HEAD)) };
  }

  async #change(to: (kept: readonly ApiKey[]) => readonly ApiKey[]): Promise<void> {
    const { store, prefix, now } = this.parts;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const at = now();
      const { before, kept } = await this.#read();
      // A session may outlast the link, and ends without its invitation.
      const after = to(kept.filter(({ expires = 0 }) => expires + SESSION_SECONDS * 1000 > at));
      const swap = { key: invitationsKey(prefix), before, after: jsonRecord(keysOf(after)) };
      const [outcome] = await store.swap([swap]).catch((error: unknown) => {
        throw unconfirmed('The invitation', error);
      });
      if (outcome !== 'stored') continue;
      this.#use(after, at);
      return;
    }
    throw new MillraceError('store_unavailable', 'others changed the invitations at the same time');
  }

  #use(kept: readonly ApiKey[], at: number): void {
    this.#ring = new KeyRing(kept);
    this.#readAt = at;
  }
}

interface Invite extends Omit<BodyOf<typeof INVITE_BODY>, 'expires'> {
  /** Epoch milliseconds. */
  readonly expires?: number;
}

/** @throws MillraceError invalid_body */
function readInvite(body: unknown, now: number, known: readonly string[]): Invite {
  const violations = new Violations();
  const { expires, ...read } = readFields(body, INVITE_BODY, violations);
  for (const [i, one] of (read.pipelines ?? []).entries()) {
    if (known.includes(one)) continue;
    const near = nearest(one, known);
    const help = near === undefined ? '' : `; did you mean ${near}?`;
    violations.add(`/pipelines/${i}`, 'unknown_pipeline', `pipelines: no pipeline ${shownName(one)}${help}`);
  }
  const until = expires === undefined ? undefined : Date.parse(expires);
  if (until !== undefined && !(until > now && until <= now + MOST_DAYS * DAY_MS))
    violations.add(
      '/expires',
      'out_of_range',
      `expires: expected a time of ISO 8601 in the next ${MOST_DAYS} days, found ${describe(expires)}`,
    );
  const whole = allFields<typeof INVITE_BODY>(read, violations, 'the request');
  return { ...whole, ...(until === undefined ? {} : { expires: until }) } as Invite;
}

/** Leaves out the oldest that are revoked if there is no room. @throws MillraceError invitations_full */
function withRoom(kept: readonly ApiKey[]): readonly ApiKey[] {
  if (kept.length < MOST_INVITATIONS) return kept;
  const oldest = kept.findIndex(({ revoked }) => revoked !== undefined);
  if (oldest >= 0) return kept.filter((_, at) => at !== oldest);
  throw new MillraceError('invitations_full', `there are ${MOST_INVITATIONS} invitations that are not over`);
}

/** @param isOfFile whether the keys file has an invitation or a key of this id */
function oneOf(kept: readonly ApiKey[], wanted: string, isOfFile: boolean): ApiKey {
  const named = kept.filter(({ id, name }) => id === wanted || name === wanted);
  const [found, ...more] = named.filter(({ revoked }) => revoked === undefined);
  const unknown = (detail: string): MillraceError => new MillraceError('unknown_invitation', detail);
  const shown = shownName(wanted);
  if (found === undefined) {
    if (named.length > 0) throw unknown(`${shown} is revoked already`);
    if (isOfFile)
      throw unknown(`${shown} is of the keys file; \`millrace keys revoke\` without --url revokes it there`);
    const near = nearest(
      wanted,
      kept.flatMap(({ id, name }) => [name, id]),
    );
    throw unknown(`there is no invitation ${shown}${near === undefined ? '' : `; did you mean ${near}?`}`);
  }
  if (more.length === 0) return found;
  const ids = [found, ...more].map(({ id, created }) => `${id} (created ${timeText(created)})`).join(', ');
  throw unknown(`${shown} has ${more.length + 1} invitations: ${ids}; revoke one of them by its id`);
}
