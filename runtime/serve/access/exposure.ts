import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Logger } from 'pino';
import { MillraceError } from '../../ground/api/errors.js';
import { isLoopback as isLocal } from '../../ground/core/host-name.js';
import { SETTINGS, type Settings } from '../../project/settings/settings.js';

type AccessSettings = Pick<Settings, 'auth' | 'keysFile'>;

/**
 * Returns the keys file if requests need keys.
 * @throws MillraceError invalid_setting
 */
export function keysFileOf({ auth, keysFile }: AccessSettings): string | undefined {
  if (auth === 'none') return undefined;
  if (keysFile !== '') return keysFile;
  if (auth === 'auto') return undefined;
  throw new MillraceError(
    'invalid_setting',
    `${SETTINGS.auth.env} is keys, and ${SETTINGS.keysFile.env} is not set; set it to the file that \`millrace keys create\` writes`,
  );
}

/**
 * Refuses to serve other machines without keys, unless the settings say that this is meant.
 * @throws MillraceError invalid_setting
 */
export async function checkExposure(
  settings: AccessSettings & SignInSettings & Pick<Settings, 'host' | 'adminHost' | 'adminPort'>,
): Promise<void> {
  checkSignIn(settings);
  const { auth, host, adminHost, adminPort } = settings;
  if (keysFileOf(settings) !== undefined || auth === 'none') return;
  const isHostLocal = await isLoopback(host);
  if (isHostLocal && (adminPort === 'off' || (await isLoopback(adminHost)))) return;
  const [exposed, address] = isHostLocal ? [SETTINGS.adminHost, adminHost] : [SETTINGS.host, host];
  throw new MillraceError(
    'invalid_setting',
    `${exposed.env} is ${address}, which other machines may reach, and requests need no key; ` +
      `create keys with \`millrace keys create\` and set ${SETTINGS.keysFile.env} to their file, ` +
      `or set ${SETTINGS.auth.env}=none if everyone who reaches the port may read, write and delete`,
  );
}

type SignInSettings = Pick<Settings, 'signInProxies' | 'signInRoles'>;

/** @throws MillraceError invalid_setting if nobody can sign in at the proxies that are set */
function checkSignIn(settings: AccessSettings & SignInSettings): void {
  const { signInProxies, signInRoles } = settings;
  if (signInProxies.isEmpty) return;
  const lacks =
    keysFileOf(settings) === undefined
      ? SETTINGS.keysFile
      : signInRoles.size === 0
        ? SETTINGS.signInRoles
        : undefined;
  if (lacks === undefined) return;
  throw new MillraceError(
    'invalid_setting',
    `${SETTINGS.signInProxies.env} is set, and ${lacks.env} is not, so nobody can sign in there; set both, or none`,
  );
}

/** Logs a setting that lets everybody in, since it may be left over from a test. */
export function logAccess(
  logger: Logger,
  { auth, keysFile, host }: AccessSettings & Pick<Settings, 'host'>,
): void {
  if (auth !== 'none') return;
  const ignored = keysFile === '' ? {} : { keys_file_ignored: keysFile };
  logger.warn({ host, ...ignored }, `${SETTINGS.auth.env} is none: requests need no key`);
}

/** True if only this machine reaches the address. All addresses of a name must be so. */
export async function isLoopback(host: string): Promise<boolean> {
  const [address = ''] = host.split('%');
  if (isLocal(address)) return true;
  if (isIP(address) !== 0) return false;
  // A name without an address is reported when the service listens on it.
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.every((one) => isLocal(one.address));
}
