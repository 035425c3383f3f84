import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { MillraceError } from '../../ground/api/errors.js';
import { nameField, readFields } from '../../ground/core/body-fields.js';
import { Violations } from '../../ground/core/violations.js';
import { jsonRecord, readJsonRecord } from '../../state/store/codec/json-record.js';
import { sessionKey } from '../../state/store/keys.js';
import type { Store } from '../../state/store/store.js';
import { unconfirmed } from '../../state/store/unconfirmed.js';
import { stateOf, type ApiKey } from './api-key.js';
import { refusalOf, type Access, type Guarded } from './authorize.js';
import { CSRF_HEADER, isRead } from './csrf.js';
import { headError } from './head-error.js';
import { KNOWN_MS, SESSION_SECONDS, type Invitations } from './invitations.js';
import { hashTextOfKey } from './key-text.js';
import { timeText } from './keys-file.js';
import type { ProxySignIn } from './proxy-sign-in.js';

/** The most sessions that are remembered. Anyone can send a cookie. */
const MOST_KNOWN = 1000;
const COOKIE = 'millrace_session';

/**
 * The session that an invitation opened, in one record of the store:
 *
 *   head of a versioned record, which may be dropped when neither the session nor the invitation is valid
 *   JSON {"format": 1, "hash": hex, "until": epoch milliseconds}, SHA-256 of the text of the cookie; until 0 if it was ended
 */
const FORMAT = 1;

/** The body that opens a session. */
export const OPEN_BODY = { invitation: nameField('the part of the link after #') };

interface Session {
  readonly hash: string;
  readonly until: number;
}

interface Known {
  /** Null if there is none; undefined if the store did not answer. */
  readonly session: Session | null | undefined;
  readonly at: number;
}

export interface SessionParts {
  readonly store: Store;
  readonly prefix: string;
  readonly invitations: Pick<Invitations, 'areNeeded' | 'find' | 'byId' | 'refresh'>;
  readonly now: () => number;
  /** People who signed in at a proxy. */
  readonly proxy?: ProxySignIn;
}

/** A session that was just opened. */
export interface OpenedSession {
  readonly key: ApiKey;
  /** The value of the cookie. Nothing else has it. */
  readonly cookie: string;
  readonly until: number;
}

const OVER = headError('key_required', 'the session is over; sign in with a new invitation');
const UNKNOWN = headError(
  'key_required',
  'the session cannot be checked now, because the store does not answer; try again',
);
const NO_CSRF = headError('csrf_missing', `the request of a session lacks its token in ${CSRF_HEADER}`);

/**
 * The sessions of people in a browser. An invitation opens one session, which the store keeps, so that each instance knows
 * it. The session has the scopes of the invitation, and ends when that is revoked.
 */
export class Sessions {
  /** By the hash of the cookie, so that no secret is compared character by character. */
  readonly #known = new Map<string, Known>();

  constructor(private readonly parts: SessionParts) {}

  /**
   * Opens the session of an invitation.
   * @param body `{ invitation }`
   * @throws MillraceError invalid_body, invitation_invalid, keys_damaged, or a code of STORE_WRITE_FAILURES
   */
  async open(body: unknown): Promise<OpenedSession> {
    const { store, prefix, invitations, now } = this.parts;
    const violations = new Violations();
    const { invitation = '' } = readFields(body, OPEN_BODY, violations);
    violations.throwIfAny('the request');
    if (!invitations.areNeeded) throw invalid('this service needs no keys, so nobody has to sign in');
    // Another instance may have made or revoked it just now.
    await invitations.refresh(0);
    const key = invitations.find(invitation);
    if (key?.invites !== true) throw invalid('no invitation of this service has this text');
    const state = stateOf(key, now());
    if (state !== 'valid') throw invalid(`the invitation of ${key.name} is ${state}`);
    const cookie = `${key.id}.${randomBytes(32).toString('base64url')}`;
    const until = now() + SESSION_SECONDS * 1000;
    const record = encode({ hash: hashOf(cookie), until }, Math.max(until, key.expires ?? Infinity));
    const swaps = [{ key: sessionKey(prefix, key.id), before: null, after: record }];
    const [outcome] = await store.swap(swaps).catch((error: unknown) => {
      throw unconfirmed('The session', error);
    });
    if (outcome !== 'stored') throw invalid(`the invitation of ${key.name} has opened a session already`);
    return { key, cookie, until };
  }

  /** Ends the session of a request. @throws MillraceError with a code of STORE_WRITE_FAILURES */
  async end(req: IncomingMessage): Promise<void> {
    const cookie = cookieOf(req);
    const key = this.#keyOf(cookie);
    if (cookie === undefined || key === undefined) return;
    // The record stays: without it, the invitation would open another session.
    const record = encode({ hash: hashOf(cookie), until: 0 }, key.expires ?? Infinity);
    await this.parts.store
      .write([{ key: sessionKey(this.parts.prefix, key.id), value: record }])
      .catch((error: unknown) => {
        throw unconfirmed('The end of the session', error);
      });
    this.#known.delete(hashTextOfKey(cookie));
  }

  /** True if `load` must be called before `access`. */
  mustLoad(req: IncomingMessage): boolean {
    const cookie = cookieOf(req);
    if (cookie === undefined) return false;
    const known = this.#known.get(hashTextOfKey(cookie));
    return known === undefined || this.parts.now() - known.at >= KNOWN_MS;
  }

  /** Reads the session of a request from the store. Never rejects. */
  async load(req: IncomingMessage): Promise<void> {
    const cookie = cookieOf(req);
    if (cookie === undefined) return;
    const at = this.parts.now();
    const record = await this.#read(cookie).catch(() => undefined);
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(hashTextOfKey(cookie), { session: record && decode(record), at });
  }

  /** The record of a session. A cookie of no invitation costs no read of its own. */
  async #read(cookie: string): Promise<Buffer | null> {
    const { store, prefix, invitations } = this.parts;
    await invitations.refresh(KNOWN_MS);
    const key = this.#keyOf(cookie);
    const [found = null] = key === undefined ? [] : await store.read([sessionKey(prefix, key.id)]);
    return found;
  }

  /** The access of a person, by a proxy or by the cookie of a session; undefined for any other. Call `load` first. */
  access(req: IncomingMessage, wanted: Guarded): Access | undefined {
    const signedIn = this.parts.proxy?.access(req, wanted);
    if (signedIn !== undefined) return signedIn;
    const cookie = cookieOf(req);
    if (cookie === undefined || wanted.scope === 'none') return undefined;
    const known = this.#known.get(hashTextOfKey(cookie));
    if (known !== undefined && known.session === undefined) return { key: undefined, refusal: UNKNOWN };
    const session = known?.session ?? undefined;
    const key = this.#keyOf(cookie);
    const isOf = session !== undefined && isEqual(session.hash, hashOf(cookie));
    if (!isOf || key === undefined || session.until <= this.parts.now())
      return { key: undefined, refusal: OVER };
    const isSafe = isRead(req) || isEqual(String(req.headers[CSRF_HEADER] ?? ''), csrfOf(cookie));
    return { key, refusal: isSafe ? refusalOf(key, wanted) : NO_CSRF };
  }

  /** What the page of a person needs to know; undefined for a program. */
  describe(req: IncomingMessage): { readonly csrf: string; readonly until?: string } | undefined {
    const signedIn = this.parts.proxy?.describe(req);
    if (signedIn !== undefined) return signedIn;
    const cookie = cookieOf(req);
    const session = cookie === undefined ? undefined : this.#known.get(hashTextOfKey(cookie))?.session;
    if (cookie === undefined || !session) return undefined;
    return { csrf: csrfOf(cookie), until: timeText(session.until) };
  }

  #keyOf(cookie = ''): ApiKey | undefined {
    const key = this.parts.invitations.byId(cookie.slice(0, Math.max(0, cookie.indexOf('.'))));
    return key?.invites === true ? key : undefined;
  }
}

/** The header that gives a browser the cookie of a session, or takes it back. */
export function setCookie(value: string, seconds: number, isSecure: boolean): string {
  return `${COOKIE}=${value}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}

/** The cookie of a session. A key in `Authorization` wins over it. */
function cookieOf({ headers: { authorization, cookie } }: IncomingMessage): string | undefined {
  if (cookie === undefined || authorization !== undefined) return undefined;
  const start = `${COOKIE}=`;
  const found = cookie.split(/; */).find((one) => one.startsWith(start));
  return found === undefined || found.length > 200 ? undefined : found.slice(start.length);
}

/** The token follows from the cookie, which no script of the page can read. */
function csrfOf(cookie: string): string {
  return createHmac('sha256', cookie).update('csrf').digest('base64url');
}

function invalid(detail: string): MillraceError {
  return new MillraceError('invitation_invalid', detail);
}

function hashOf(cookie: string): string {
  return Buffer.from(hashTextOfKey(cookie), 'latin1').toString('hex');
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function encode(session: Session, expires: number): Buffer {
  return jsonRecord({ format: FORMAT, ...session }, expires);
}

/** Null if the record is damaged, or of a later format. */
function decode(record: Buffer): Session | null {
  const { format, hash, until } = readJsonRecord(record) ?? {};
  return format === FORMAT && typeof hash === 'string' && typeof until === 'number' ? { hash, until } : null;
}
