import { ReplyError } from 'ioredis';
import type { StoreFailure } from '../../../ground/api/error-codes.js';
import { MillraceError } from '../../../ground/api/errors.js';

/** Error replies that a retry cannot change. */
const HOPELESS = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password|ERR DB index|ERR invalid DB index)/;

const LOST =
  /Connection is closed|Stream isn't writeable|max retries per request|ECONNRESET|EPIPE|aborted due to connection close|socket hang up/;

const NO_SENTINEL = 'none of the Sentinels can be used';

/** The Sentinels answer, but monitor no master of this name. */
export class UnknownMasterError extends Error {
  constructor(name: string) {
    super(`the Sentinels know no master called \`${name}\``);
    this.name = 'UnknownMasterError';
  }
}

/** The server acts as the master, but the Sentinels name another. */
export class NotMasterError extends Error {
  /** @param master the address that the Sentinels report */
  constructor(master: string | undefined) {
    super(
      master === undefined ? 'no Sentinel confirms that it is the master' : `the master is now ${master}`,
    );
    this.name = 'NotMasterError';
  }
}

/** The server is silent, or slower than the limits allow. */
export class NoReplyError extends Error {
  constructor() {
    super('no reply within the time-out');
    this.name = 'NoReplyError';
  }
}

/** Too many commands wait for a connection whose server answers. */
export class CrowdedError extends Error {
  constructor(waiting: number) {
    super(`${waiting} keys wait for their replies already`);
    this.name = 'CrowdedError';
  }
}

/** The server rejects commands until it has loaded its data from disk. */
export class LoadingError extends Error {
  constructor() {
    super('it is loading its data');
    this.name = 'LoadingError';
  }
}

/** Slots of the cluster have no master. */
export class UncoveredError extends Error {
  constructor(slots: number) {
    super(`${slots} of its slots have no master`);
    this.name = 'UncoveredError';
  }
}

/** The master has stored the write, but a failover could still lose it. */
export class NotReplicatedError extends Error {
  constructor(replicas: number, wanted: number, within: number) {
    super(`${replicas} of ${wanted} replicas confirmed the write within ${within} ms`);
    this.name = 'NotReplicatedError';
  }
}

/** Codes by the error word of a reply. In the error of a script, the word is not the first. */
const REPLY_CODES: readonly (readonly [RegExp, StoreFailure])[] = [
  [/\bREADONLY\b/, 'store_read_only'],
  [/\bOOM\b/, 'store_out_of_memory'],
  [/\bMISCONF\b/, 'store_disk_full'],
  [/\bNOREPLICAS\b/, 'store_not_replicated'],
  [/\bLOADING\b/, 'store_loading'],
  [/\b(?:BUSY|TRYAGAIN)\b|max number of clients/, 'store_busy'],
  [/\b(?:CLUSTERDOWN|MASTERDOWN)\b/, 'store_cluster_down'],
  [/\bWRONGTYPE\b/, 'store_wrong_type'],
];

/** The code of an error reply, or of the reason for a missing reply. */
export function storeFailureOf(error: unknown): StoreFailure {
  if (error instanceof CrowdedError) return 'store_overloaded';
  if (error instanceof NotReplicatedError) return 'store_not_replicated';
  if (error instanceof UncoveredError) return 'store_cluster_down';
  if (error instanceof LoadingError) return 'store_loading';
  if (!isReply(error)) return 'store_unavailable';
  return REPLY_CODES.find(([pattern]) => pattern.test(error.message))?.[1] ?? 'store_refused';
}

export function isHopeless(error: Error | undefined): boolean {
  return error !== undefined && HOPELESS.test(innermost(error).message);
}

/** Whether the server refuses connections, is silent or is loading its data. */
export function isGone(lastError: Error | undefined): boolean {
  if (lastError === undefined) return false;
  const { code } = lastError as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED' || lastError instanceof NoReplyError || lastError instanceof LoadingError;
}

/** Whether the error is a reply of the server. */
export function isReply(error: unknown): error is Error {
  return error instanceof (ReplyError as unknown as new () => Error);
}

/** Whether the server does not permit or does not know the command. */
export function isRefused(error: unknown): error is Error {
  return isReply(error) && /^(NOPERM|ERR) /.test(error.message);
}

/**
 * The error to report when a server, or the connection to it, fails.
 * @param lastError the last error of the connection; it explains why the connection was lost
 */
export function unavailable(address: string, error: unknown, lastError?: Error): MillraceError {
  if (error instanceof MillraceError) return error;
  // The last reply of the server is more useful than "the connection was lost".
  const told = !isReply(error) && isLost(error) && isReply(lastError) ? lastError : error;
  const code = storeFailureOf(told);
  const detail = isReply(told)
    ? `Redis at ${address} refused the command: ${firstLine(told.message)}`
    : code === 'store_unavailable'
      ? `Redis at ${address} does not answer: ${reasonFor(error, lastError)}`
      : `Redis at ${address}: ${reasonFor(error, lastError)}`;
  return new MillraceError(code, detail, { cause: error });
}

/** True if the error only reports that the connection is lost. */
function isLost(error: unknown): boolean {
  return !(error instanceof Error) || reasonOf(innermost(error)) === 'the connection was lost';
}

/** A short reason: never contains a password, and is at most one line. */
export function reasonFor(error: unknown, lastError?: Error): string {
  const own = error instanceof Error ? reasonOf(innermost(error)) : 'no connection';
  if (own !== 'the connection was lost' || lastError === undefined) return own;
  return reasonOf(innermost(lastError));
}

/**
 * @param bySentinels true if the Sentinels name the server; false if a setting does
 * @param isStore whether another store can take its place
 */
export function remedyFor(reason: string, bySentinels = false, isStore = true): string {
  if (HOPELESS.test(reason)) return 'Check the user, password and database of the REDIS_ settings';
  if (/^the Sentinels know no master/.test(reason))
    return 'Check REDIS_SENTINEL_MASTER; `redis-cli -p 26379 SENTINEL MASTERS` lists the names that a Sentinel knows';
  if (/^(the master is now|no Sentinel confirms)/.test(reason))
    return 'Check that the Sentinels name the address at which this process reaches the master, and that a failover is not under way';
  if (reason.startsWith(NO_SENTINEL)) {
    return 'Check REDIS_SENTINELS, the user and password of the Sentinels, and with TLS REDIS_TLS_CA and the certificates';
  }
  if (/certificate|self.signed|wrong version number|SSL|TLS/i.test(reason)) {
    return 'Check rediss:// or REDIS_TLS, and REDIS_TLS_CA, REDIS_TLS_SERVERNAME';
  }
  if (bySentinels) return 'Check that the master that the Sentinels name runs and can be reached from here';
  if (!isStore) return 'Start it, or correct its `url` in the view';
  return 'Start it (redis-server) or set REDIS_URL. The embedded store needs no server: write `store: embedded` in millrace.yaml, or pass --store embedded';
}

function innermost(error: Error): Error {
  return error.cause instanceof Error ? innermost(error.cause) : error;
}

function reasonOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  const known = knownReason(code ?? '');
  if (known !== undefined) return known;
  const sentinel = /^All sentinels are unreachable.*?(?:Last error: (.*))?$/s.exec(error.message);
  if (sentinel !== null) {
    const [, last] = sentinel;
    // ioredis reports the same if every Sentinel answered but the named master is unreachable.
    if (last === undefined) return 'the master that the Sentinels name cannot be reached';
    if (last.startsWith('the Sentinels know')) return firstLine(last);
    const cause = knownReason(/\bE[A-Z_]+\b/.exec(last)?.[0] ?? '');
    return firstLine(`${NO_SENTINEL}: ${cause ?? (LOST.test(last) ? 'no connection' : last)}`);
  }
  if (LOST.test(error.message)) return 'the connection was lost';
  return firstLine(error.message);
}

function knownReason(code: string): string | undefined {
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'no such host';
  return code === 'ETIMEDOUT' ? 'no connection within the time-out' : undefined;
}

/** Without a full stop, because the message continues. */
function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').slice(0, 200).replace(/[.\s]+$/, '');
}
