import type { IncomingMessage } from 'node:http';
import type { AddressRanges } from '../../ground/core/address-ranges.js';
import type { Settings } from '../../project/settings/settings.js';
import { refusalOf, type Access, type Guarded } from './authorize.js';
import { headError } from './head-error.js';
import { CSRF_HEADER, isRead } from './csrf.js';
import { ROLES, type Scope } from './scopes.js';

/** The headers in which a proxy says who signed in there. It must replace those that a client sends. */
const USER_HEADER = 'x-forwarded-user';
const GROUPS_HEADER = 'x-forwarded-groups';
/** A name without a comma: Node joins the values of a header that was sent twice by commas. */
const USER = /^[\w.@+-]{1,100}$/;
/** Any value shows that the page itself sends the request: a form of another page cannot set the header. */
const CSRF = 'proxy';

/** A process that passes requests on does not pass on these. */
export const SIGN_IN_HEADERS: readonly string[] = [USER_HEADER, GROUPS_HEADER];

const WRONG_USER = headError('key_invalid', `the proxy sends no usable name in ${USER_HEADER}`);
const NO_ROLE = headError('key_not_allowed', 'no group of the user has a role in this service');
const NO_CSRF = headError('csrf_missing', `the request of a person lacks its token in ${CSRF_HEADER}`);

/** People who signed in at a proxy in front of the service, by the headers of trusted addresses. */
export class ProxySignIn {
  readonly #proxies: AddressRanges;
  readonly #roles: Settings['signInRoles'];

  constructor({ signInProxies, signInRoles }: Pick<Settings, 'signInProxies' | 'signInRoles'>) {
    this.#proxies = signInProxies;
    this.#roles = signInRoles;
  }

  /** The access of a request that a trusted proxy passes on; undefined for any other: its headers are ignored. */
  access(req: IncomingMessage, wanted: Guarded): Access | undefined {
    const user = this.#userOf(req);
    if (user === undefined || wanted.scope === 'none') return undefined;
    if (!USER.test(user)) return { key: undefined, refusal: WRONG_USER };
    const scopes = this.#scopesOf(req);
    if (scopes.length === 0) return { key: undefined, refusal: NO_ROLE };
    const key = { id: 'proxy', name: user, hash: Buffer.alloc(0), scopes, created: 0 };
    const isSafe = isRead(req) || req.headers[CSRF_HEADER] !== undefined;
    return { key, refusal: isSafe ? refusalOf(key, wanted) : NO_CSRF };
  }

  /** What the page of the person needs to know; undefined for any other. */
  describe(req: IncomingMessage): { readonly csrf: string } | undefined {
    return this.#userOf(req) === undefined ? undefined : { csrf: CSRF };
  }

  /** A key in `Authorization` wins. The address is that of the connection, which no header changes. */
  #userOf({ socket, headers }: IncomingMessage): string | undefined {
    if (this.#proxies.isEmpty || headers.authorization !== undefined) return undefined;
    const user = headers[USER_HEADER];
    return user !== undefined && this.#proxies.has(socket.remoteAddress ?? '')
      ? String(user).trim()
      : undefined;
  }

  /** The scopes of the roles that the groups have. */
  #scopesOf({ headers }: IncomingMessage): readonly Scope[] {
    const groups = String(headers[GROUPS_HEADER] ?? '').split(',');
    const scopes = groups.flatMap((group): readonly Scope[] => {
      const role = this.#roles.get(group.trim());
      return role === undefined ? [] : ROLES[role];
    });
    return [...new Set(scopes)];
  }
}
