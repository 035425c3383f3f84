import { isJsonObject } from '../../ground/core/value-fit.js';
import { chown, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { MillraceError } from '../../ground/api/errors.js';
import { NAME_PATTERN } from '../../ground/api/types.js';
import { nearest } from '../../ground/core/nearest.js';
import { parseJson } from '../../ground/core/parse-json.js';
import type { ApiKey } from './api-key.js';
import { isKeyId } from './key-text.js';
import { parseRate, RATE_FORM, rateText } from '../../ground/core/rate.js';
import { isScope, SCOPE_NAMES, type Scope } from './scopes.js';

const VERSION = 1;
const HASH = /^sha256:([0-9a-f]{64})$/;
export const KEY_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
export const KEY_NAME_EXPECTED =
  'letters, digits, `.`, `_` and `-`, at most 63, that start with a letter or a digit';
const MEMBERS = [
  'id',
  'name',
  'hash',
  'scopes',
  'pipelines',
  'entity_types',
  'rate',
  'invites',
  'created',
  'expires',
  'revoked',
];

export function isKeyName(text: string): boolean {
  return KEY_NAME.test(text);
}

/** Parses the text of a keys file. @throws MillraceError keys_damaged, with the place of the fault */
export function parseKeys(bytes: Buffer): ApiKey[] {
  const value = parse(bytes);
  if (!isJsonObject(value)) throw damaged(`the file holds ${kindOf(value)}; expected an object`);
  checkMembers(value, ['version', 'keys'], '');
  if (value.version !== VERSION) throw damaged(`version is ${shown(value.version)}; expected ${VERSION}`);
  if (!Array.isArray(value.keys)) throw damaged(`keys is ${kindOf(value.keys)}; expected a list`);
  const keys = value.keys.map((entry: unknown, i) => readKey(entry, `keys[${i}]`));
  for (const [i, { id, hash }] of keys.entries()) {
    const other = keys.findIndex((one) => one.id === id || one.hash.equals(hash));
    if (other !== i)
      throw damaged(`keys[${other}] and keys[${i}] have the same ${keys[other]?.id === id ? 'id' : 'hash'}`);
  }
  return keys;
}

/** Writes keys as the text of a keys file, one member a line, so that differences can be read. */
export function keysText(keys: readonly ApiKey[]): string {
  return `${JSON.stringify(keysOf(keys), null, 2)}\n`;
}

/** The content of a keys file. */
export function keysOf(keys: readonly ApiKey[]): object {
  return { version: VERSION, keys: keys.map(entryOf) };
}

/** The members of a key for programs. The hash is of no use to them. */
export function shownOf(key: ApiKey): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entryOf(key)).filter(([member]) => member !== 'hash'));
}

/** The members of a key, as the file has them. */
function entryOf(key: ApiKey): Record<string, unknown> {
  const { id, name, hash, scopes, pipelines, entityTypes, rate, invites, created, expires, revoked } = key;
  return {
    id,
    name,
    hash: `sha256:${hash.toString('hex')}`,
    scopes,
    ...(pipelines === undefined ? {} : { pipelines }),
    ...(entityTypes === undefined ? {} : { entity_types: entityTypes }),
    ...(rate === undefined ? {} : { rate: rateText(rate) }),
    ...(invites === undefined ? {} : { invites }),
    created: timeText(created),
    ...(expires === undefined ? {} : { expires: timeText(expires) }),
    ...(revoked === undefined ? {} : { revoked: timeText(revoked) }),
  };
}

export function timeText(time: number): string {
  return new Date(time).toISOString();
}

/**
 * Reads a keys file.
 * @throws MillraceError keys_damaged; keys_missing if there is no such file
 */
export async function readKeys(path: string): Promise<ApiKey[]> {
  return parseKeys(await readKeysBytes(path));
}

/** @throws MillraceError keys_missing; keys_damaged if the file cannot be read */
export async function readKeysBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT')
      throw new MillraceError('keys_missing', `the keys file ${path} does not exist`, { cause });
    throw damaged(code === 'EACCES' ? 'this user may not read it' : `it cannot be read (${code})`, cause);
  }
}

/** Another command holds the lock of a keys file, or ended while it held the lock. */
export class KeysLockedError extends Error {
  constructor(
    readonly lock: string,
    options?: ErrorOptions,
  ) {
    super('another command changes the keys file', options);
    this.name = 'KeysLockedError';
  }
}

/** How long a command waits for another one that changes the same file, in milliseconds. */
const LOCK_MS = 2000;
const LOCK_POLL_MS = 20;

/**
 * Changes a keys file, or creates it. Readers see the file as it was or as it is after the change: the new content is
 * written to a file beside it, which then takes its name. Only its owner may read it (mode 0600). Two changes at the
 * same time wait for each other.
 * @returns the keys after the change
 * @throws MillraceError keys_damaged; KeysLockedError; errors of the file system; whatever `change` throws
 */
export async function changeKeys(
  path: string,
  change: (keys: readonly ApiKey[]) => readonly ApiKey[],
): Promise<readonly ApiKey[]> {
  // A link stays a link: its target is replaced.
  const file = await realpath(path).catch(() => path);
  const lock = `${file}.lock`;
  await takeLock(lock);
  try {
    const before = await readKeys(file).catch((error: unknown) => {
      if (error instanceof MillraceError && error.code === 'keys_missing') return [];
      throw error;
    });
    const after = change(before);
    await replace(file, keysText(after));
    return after;
  } finally {
    await rm(lock, { force: true });
  }
}

async function takeLock(lock: string): Promise<void> {
  const start = performance.now();
  for (;;) {
    try {
      const handle = await open(lock, 'wx', 0o600);
      await handle.close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (performance.now() - start > LOCK_MS) throw new KeysLockedError(lock, { cause: error });
      await pause(LOCK_POLL_MS);
    }
  }
}

async function replace(file: string, text: string): Promise<void> {
  const next = `${file}.${process.pid}.new`;
  try {
    const handle = await open(next, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await keepOwner(file, next);
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
  // Without this, a power loss could undo the rename, and with it a revocation.
  const folder = await open(dirname(file), 'r');
  await folder.sync().finally(() => folder.close());
}

/** If root changes the file of a service's user, the service must still be able to read it. */
async function keepOwner(file: string, next: string): Promise<void> {
  const before = await stat(file).catch(() => undefined);
  if (before === undefined || before.uid === process.getuid?.()) return;
  await chown(next, before.uid, before.gid);
}

type Json = Readonly<Record<string, unknown>>;

function readKey(entry: unknown, at: string): ApiKey {
  if (!isJsonObject(entry)) throw damaged(`${at} is ${kindOf(entry)}; expected an object`);
  checkMembers(entry, MEMBERS, `${at}.`);
  const text = (member: string, fits: (value: string) => boolean, expected: string): string => {
    const value = entry[member];
    if (typeof value !== 'string' || !fits(value))
      throw damaged(`${at}.${member} is ${shown(value)}; expected ${expected}`);
    return value;
  };
  const time = (member: string): number =>
    Date.parse(text(member, (value) => !Number.isNaN(Date.parse(value)), 'a date and time of ISO 8601'));
  const names = (member: string): readonly string[] =>
    list(member, (one) => NAME_PATTERN.test(one), 'a name');
  const list = (member: string, fits: (one: string) => boolean, expected: string): readonly string[] => {
    const value = entry[member];
    if (!Array.isArray(value)) throw damaged(`${at}.${member} is ${kindOf(value)}; expected a list`);
    return value.map((one: unknown, i) => {
      if (typeof one === 'string' && fits(one)) return one;
      throw damaged(`${at}.${member}[${i}] is ${shown(one)}; expected ${expected}`);
    });
  };
  const optional = <T>(member: string, read: (member: string) => T): T | undefined =>
    entry[member] === undefined ? undefined : read(member);
  const pipelines = optional('pipelines', names);
  const entityTypes = optional('entity_types', names);
  const rate = optional('rate', (member) =>
    parseRate(text(member, (value) => parseRate(value) !== undefined, RATE_FORM)),
  );
  const { invites } = entry;
  if (invites !== undefined && invites !== true)
    throw damaged(`${at}.invites is ${shown(invites)}; expected true`);
  const expires = optional('expires', time);
  const revoked = optional('revoked', time);
  const hash = text('hash', (value) => HASH.test(value), '`sha256:` and 64 hex digits');
  return {
    id: text('id', isKeyId, '8 letters or digits'),
    name: text('name', isKeyName, KEY_NAME_EXPECTED),
    hash: Buffer.from(hash.slice(hash.indexOf(':') + 1), 'hex'),
    scopes: list('scopes', isScope, `one of ${SCOPE_NAMES.join(', ')}`) as readonly Scope[],
    ...(pipelines === undefined ? {} : { pipelines }),
    ...(entityTypes === undefined ? {} : { entityTypes }),
    ...(rate === undefined ? {} : { rate }),
    ...(invites === undefined ? {} : { invites }),
    created: time('created'),
    ...(expires === undefined ? {} : { expires }),
    ...(revoked === undefined ? {} : { revoked }),
  };
}

function checkMembers(object: Json, known: readonly string[], at: string): void {
  const unknown = Object.keys(object).find((member) => !known.includes(member));
  if (unknown === undefined) return;
  const near = nearest(unknown, known);
  throw damaged(`${at}${unknown} is no member of it${near === undefined ? '' : `; did you mean ${near}?`}`);
}

function parse(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    throw damaged(error instanceof Error ? error.message : 'it is not JSON', error);
  }
}

function damaged(what: string, cause?: unknown): MillraceError {
  return new MillraceError('keys_damaged', what, cause === undefined ? {} : { cause });
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'absent';
  return value === null
    ? 'null'
    : Array.isArray(value)
      ? 'a list'
      : typeof value === 'object'
        ? 'an object'
        : `a ${typeof value}`;
}

/** Hashes and names are no secrets, but a user might put a key itself into the file. */
function shown(value: unknown): string {
  if (typeof value !== 'string') return kindOf(value);
  return value.includes('mr_') ? 'a key' : JSON.stringify(value.slice(0, 80));
}
