import { MillraceError } from '../../ground/api/errors.js';
import { NAME_PATTERN, type JsonObject } from '../../ground/api/types.js';
import {
  allFields,
  field,
  nameField,
  objectField,
  optional,
  readBody,
  readFields,
  refuseOthers,
  textField,
  type BodyFields,
} from '../../ground/core/body-fields.js';
import { TIME_FORMS, timestampOf } from '../../ground/core/timestamp.js';
import { describe } from '../../ground/core/value-fit.js';
import { shownName, Violations } from '../../ground/core/violations.js';
import { jsonRecord, readJsonRecord } from '../../state/store/codec/json-record.js';
import { previewLinksKey } from '../../state/store/keys.js';
import type { Store } from '../../state/store/store.js';
import { unconfirmed } from '../../state/store/unconfirmed.js';
import type { ApiKey, KeyState } from './api-key.js';
import type { Invitations } from './invitations.js';
import { createKey, hashOfKey } from './key-text.js';
import { timeText } from './keys-file.js';

/** How long a link opens its preview, by default and at most. */
export const LINK_DAYS = 7;
const MOST_DAYS = 30;
const DAY_MS = 86_400_000;
/** The most links that are kept, and the most characters of the request of one, as JSON: one record has all. */
const MOST_LINKS = 100;
const LONGEST_REQUEST = 4_096;
/** Each loser of a race reads again. */
const MOST_TRIES = 20;
const FORMAT = 1;

const NAME = field(
  { type: 'string', pattern: NAME_PATTERN.source },
  (value): value is string => typeof value === 'string' && NAME_PATTERN.test(value),
  'the name of a draft',
);

/** The bodies of the routes. */
export const LINK_BODIES = {
  share: {
    draft: NAME,
    pipeline: nameField('the name of a pipeline'),
    request: objectField('a request to the pipeline'),
    at: optional(textField('a time')),
    expires: optional(textField('a time')),
  },
  links: {},
  revoke: { link: nameField('the id of a link') },
  open: { link: nameField('the part of the link after #') },
} as const satisfies Readonly<Record<string, BodyFields>>;

/** A link to the preview of a draft, without its text. */
export interface PreviewLink {
  readonly id: string;
  readonly draft: string;
  readonly pipeline: string;
  /** The time of the rules, ISO 8601; null: when it is opened. */
  readonly at: string | null;
  /** The name of the key or of the person; null if the service needs no keys. */
  readonly author: string | null;
  readonly created: string;
  readonly expires: string;
  readonly state: KeyState;
}

/** A new link. Nothing shows its text again. */
export interface SharedLink extends PreviewLink {
  /** What stands after `#` in the address. */
  readonly link: string;
}

/** What a link opens. */
export interface OpenedLink extends PreviewLink {
  readonly request: JsonObject;
}

/** A link as it is stored. Times are epoch milliseconds. */
interface StoredLink {
  readonly id: string;
  /** SHA-256 of the text, hex. */
  readonly hash: string;
  readonly draft: string;
  readonly pipeline: string;
  readonly request: JsonObject;
  readonly at: number | null;
  readonly author: string | null;
  /** The id of the author's key. */
  readonly key: string | null;
  readonly created: number;
  readonly expires: number;
  readonly revoked?: number;
}

export interface PreviewLinkParts {
  readonly store: Store;
  readonly prefix: string;
  readonly invitations: Pick<Invitations, 'byId' | 'refresh'>;
  readonly now: () => number;
}

/**
 * Links that open the preview of one request with one draft, for people without a key. One record of the store holds them, with
 * hashes of their texts. All instances of a service read it whenever a link is opened, so a revoked link opens nothing.
 */
export class PreviewLinks {
  constructor(private readonly parts: PreviewLinkParts) {}

  /**
   * Makes a link.
   * @param check refuses a request or a draft that nothing can show
   * @throws MillraceError invalid_body, key_not_allowed, preview_links_full, or a code of STORE_WRITE_FAILURES
   */
  async share(
    body: unknown,
    by: ApiKey | undefined,
    check: (asked: Pick<OpenedLink, 'draft' | 'pipeline' | 'request'>) => Promise<void>,
  ): Promise<SharedLink> {
    const now = this.parts.now();
    const { draft, pipeline, request, at = null, expires = now + LINK_DAYS * DAY_MS } = readShare(body, now);
    if (by?.pipelines?.includes(pipeline) === false)
      throw new MillraceError('key_not_allowed', `the key may not use the pipeline ${shownName(pipeline)}`);
    await check({ draft, pipeline, request });
    const { id, text } = createKey();
    const link: StoredLink = {
      ...{ id, hash: hashOfKey(text).toString('hex'), draft, pipeline, request, at },
      ...{ author: by?.name ?? null, key: by?.id ?? null, created: now, expires },
    };
    await this.#change((kept) => {
      if (kept.length >= MOST_LINKS)
        throw new MillraceError('preview_links_full', `there are ${MOST_LINKS} links that are not over`);
      return [...kept, link];
    });
    return { link: text, ...this.#shown(link) };
  }

  async links(body: unknown): Promise<{ readonly links: readonly PreviewLink[] }> {
    readBody(body, LINK_BODIES.links, 'the request', 'an object');
    const { kept } = await this.#read();
    return { links: kept.map((link) => this.#shown(link)) };
  }

  /** @throws MillraceError unknown_preview_link, or a code of STORE_WRITE_FAILURES */
  async revoke(body: unknown): Promise<PreviewLink> {
    const { link: id } = readBody(body, LINK_BODIES.revoke, 'the request');
    const revoked = this.parts.now();
    let found: StoredLink | undefined;
    await this.#change((kept) => {
      found = kept.find((one) => one.id === id);
      if (found === undefined)
        throw new MillraceError('unknown_preview_link', `there is no link ${shownName(id)}`);
      const { revoked: before = revoked } = found;
      found = { ...found, revoked: before };
      return kept.map((one) => (one.id === id && found !== undefined ? found : one));
    });
    if (found === undefined) throw new Error('one link is revoked');
    return this.#shown(found);
  }

  /** @throws MillraceError preview_link_invalid */
  async open(body: unknown): Promise<OpenedLink> {
    const { link: text } = readBody(body, LINK_BODIES.open, 'the request');
    const { invitations } = this.parts;
    const { kept } = await this.#read();
    const hash = hashOfKey(text).toString('hex');
    const link = kept.find((one) => one.hash === hash);
    const refuse = (detail: string): never => {
      throw new MillraceError('preview_link_invalid', detail);
    };
    if (link === undefined)
      return refuse('no link of this service has this text; it may be over, or not whole');
    const shown = this.#shown(link);
    if (shown.state === 'expired') return refuse(`the link expired at ${shown.expires}`);
    if (shown.state === 'revoked') return refuse('the link was revoked');
    if (link.key !== null) {
      await invitations.refresh(0);
      if (invitations.byId(link.key)?.revoked !== undefined)
        return refuse(`the key of ${link.author ?? 'its author'} was revoked, and its links with it`);
    }
    return { ...shown, request: link.request };
  }

  #shown({ id, draft, pipeline, at, author, created, expires, revoked }: StoredLink): PreviewLink {
    const state: KeyState =
      revoked !== undefined ? 'revoked' : expires <= this.parts.now() ? 'expired' : 'valid';
    return {
      ...{ id, draft, pipeline, at: at === null ? null : timeText(at), author },
      ...{ created: timeText(created), expires: timeText(expires), state },
    };
  }

  async #read(): Promise<{ readonly before: Buffer | null; readonly kept: readonly StoredLink[] }> {
    const { store, prefix } = this.parts;
    const [before = null] = await store.read([previewLinksKey(prefix)]);
    const { format, links } = (before && readJsonRecord(before)) ?? {};
    // What is damaged, or of a later format, opens nothing.
    return { before, kept: format === FORMAT ? (links as unknown as readonly StoredLink[]) : [] };
  }

  async #change(to: (kept: readonly StoredLink[]) => readonly StoredLink[]): Promise<void> {
    const { store, prefix, now } = this.parts;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { before, kept } = await this.#read();
      const links = to(kept.filter(({ expires }) => expires > now()));
      const swap = { key: previewLinksKey(prefix), before, after: jsonRecord({ format: FORMAT, links }) };
      const [outcome] = await store.swap([swap]).catch((error: unknown) => {
        throw unconfirmed('The link', error);
      });
      if (outcome === 'stored') return;
    }
    throw new MillraceError('store_unavailable', 'others changed the links at the same time');
  }
}

interface Share {
  readonly draft: string;
  readonly pipeline: string;
  readonly request: JsonObject;
  readonly at?: number;
  readonly expires?: number;
}

/** @throws MillraceError invalid_body */
function readShare(body: unknown, now: number): Share {
  const violations = new Violations();
  refuseOthers(body, LINK_BODIES.share, violations);
  const read = readFields(body, LINK_BODIES.share, violations);
  const length = read.request === undefined ? 0 : JSON.stringify(read.request).length;
  if (length > LONGEST_REQUEST)
    violations.add(
      '/request',
      'too_long',
      `request: a link has a request of at most ${LONGEST_REQUEST} characters of JSON, found ${length}; let the pipeline find the candidates`,
    );
  const time = (
    name: 'at' | 'expires',
    expected: string,
    fits: (time: number) => boolean,
  ): { readonly at?: number; readonly expires?: number } => {
    const text = read[name];
    if (text === undefined) return {};
    const found = timestampOf(text);
    if (!fits(found))
      violations.add(`/${name}`, 'wrong_value', `${name}: expected ${expected}, found ${describe(text)}`);
    return { [name]: found };
  };
  const at = time('at', TIME_FORMS, (found) => !Number.isNaN(found));
  const expires = time(
    'expires',
    `a time in the next ${MOST_DAYS} days`,
    (found) => found > now && found <= now + MOST_DAYS * DAY_MS,
  );
  const { draft, pipeline, request } = allFields<typeof LINK_BODIES.share>(read, violations, 'the request');
  return { draft, pipeline, request, ...at, ...expires };
}
