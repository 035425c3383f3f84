import { MillraceError } from '../../ground/api/errors.js';
import { stateOf, type ApiKey } from './api-key.js';
import { headError, type HeadError } from './head-error.js';
import { hasScope, type RouteScope } from './scopes.js';
import { timeText } from './keys-file.js';

/** What a request needs a key for: the scope of its route, and the pipeline that the route runs. */
export interface Guarded {
  readonly scope: RouteScope;
  readonly pipeline?: string;
}

/** Finds a key by its text. */
export interface KeySource {
  find(text: string): ApiKey | undefined;
}

const SCHEME = 'bearer ';

const KEY_REQUIRED = headError(
  'key_required',
  'the request has no key; send Authorization: Bearer and a key',
);
const IS_INVITATION = headError(
  'key_invalid',
  'this is the invitation of a person, and no key; open its link in a browser',
);
const KEY_INVALID = headError('key_invalid', 'no key of this service is the one that the request has');

/** The key of a request, whose owner is known, and why the request is refused, if it is. */
export interface Access {
  readonly key: ApiKey | undefined;
  readonly refusal: HeadError | undefined;
}

const NO_KEY_NEEDED: Access = { key: undefined, refusal: undefined };
const NO_KEY: Access = { key: undefined, refusal: KEY_REQUIRED };
const WRONG_KEY: Access = { key: undefined, refusal: KEY_INVALID };
const INVITATION: Access = { key: undefined, refusal: IS_INVITATION };

/**
 * Decides from the head of a request whether its key allows it.
 *
 * A wrong key gets the same answer whatever is wrong with it. Only a client that sent the whole key, and thus has the
 * secret, learns that it is expired or revoked, or what it lacks.
 * @param authorization the value of the header
 */
export function authorize(keys: KeySource, authorization: string | undefined, wanted: Guarded): Access {
  if (wanted.scope === 'none') return NO_KEY_NEEDED;
  if (authorization === undefined || authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME)
    return NO_KEY;
  const key = keys.find(authorization.slice(SCHEME.length).trim());
  if (key === undefined) return WRONG_KEY;
  if (key.invites === true) return INVITATION;
  return { key, refusal: refusalOf(key, wanted) };
}

/** Says why a key does not allow what a request wants; undefined if it does. */
export function refusalOf(key: ApiKey, { scope, pipeline }: Guarded): HeadError | undefined {
  const { scopes, pipelines } = key;
  // A session has a time of its own.
  const state = stateOf(key, key.invites === true ? 0 : Date.now());
  if (state === 'revoked')
    return headError('key_revoked', `this key was revoked at ${timeText(key.revoked ?? 0)}`);
  if (state === 'expired')
    return headError('key_expired', `this key expired at ${timeText(key.expires ?? 0)}`);
  if (scope !== 'any' && scope !== 'none' && !hasScope(scopes, scope))
    return headError('scope_missing', `the key lacks the scope ${scope}`, { scope });
  if (pipeline !== undefined && pipelines !== undefined && !pipelines.includes(pipeline))
    return headError('key_not_allowed', `the key may not use the pipeline ${pipeline}`);
  return undefined;
}

/** @throws MillraceError key_not_allowed if a key may not use one of the entity types */
export function allowEntityTypes(allowed: readonly string[], types: Iterable<string>): void {
  for (const type of types)
    if (!allowed.includes(type))
      throw new MillraceError('key_not_allowed', `the key may not use the entity type ${type.slice(0, 100)}`);
}

/** The header WWW-Authenticate of a refusal (RFC 6750); undefined for other errors. */
export function challengeOf({ code, status, extensions }: MillraceError): string | undefined {
  if (code === 'key_required') return 'Bearer realm="millrace"';
  if (status === 401) return 'Bearer realm="millrace", error="invalid_token"';
  if (code !== 'scope_missing') return undefined;
  return `Bearer realm="millrace", error="insufficient_scope", scope="${String(extensions.scope)}"`;
}
