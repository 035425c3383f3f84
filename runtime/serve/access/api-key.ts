import type { Rate } from '../../ground/core/rate.js';
import type { Scope } from './scopes.js';

/** A key as it is stored: who uses it, and for what. The secret itself is nowhere. Times are epoch milliseconds. */
export interface ApiKey {
  readonly id: string;
  /** The name of its user, for metrics and logs. While a key is rotated, two keys have the same name. */
  readonly name: string;
  /** SHA-256 of the key's text: 32 bytes. */
  readonly hash: Buffer;
  readonly scopes: readonly Scope[];
  /** The pipelines that it may run and explain; undefined: all. */
  readonly pipelines?: readonly string[];
  /** The entity types that it may read and write; undefined: all. */
  readonly entityTypes?: readonly string[];
  readonly rate?: Rate;
  /** It is the invitation of a person, who opens a session with it until it expires, and no key for requests. */
  readonly invites?: true;
  readonly created: number;
  readonly expires?: number;
  readonly revoked?: number;
}

export const KEY_STATES = ['valid', 'expired', 'revoked'] as const;
export type KeyState = (typeof KEY_STATES)[number];

export function stateOf({ expires, revoked }: ApiKey, now: number): KeyState {
  if (revoked !== undefined) return 'revoked';
  return expires !== undefined && expires <= now ? 'expired' : 'valid';
}
