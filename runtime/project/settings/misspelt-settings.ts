import { nearest } from '../../ground/core/nearest.js';
import { CLIENT_KEY, PYTHON, SETTINGS } from './settings.js';

/** What Kubernetes defines for a service named `millrace` or `redis`, after the prefix. */
const OF_KUBERNETES = /^(?:PORT|SERVICE_HOST|SERVICE_PORT)(?:_.+)?$/;

/** Finds environment variables that are not settings but have a similar name. */
export function misspeltSettings(
  env: Readonly<Record<string, string | undefined>>,
): readonly { readonly name: string; readonly near: string }[] {
  const settings = [...Object.values(SETTINGS).map((setting) => setting.env), PYTHON, CLIENT_KEY];
  // PORT, HOST and LOG_LEVEL have no prefix. Kubernetes gives MILLRACE_PORT an address, and not a number.
  const prefixed = settings
    .filter((name) => !name.includes('_') || name === 'LOG_LEVEL')
    .map((near) => ({ name: `MILLRACE_${near}`, near }))
    .filter(({ name }) => !(env[name] ?? '://').includes('://'));
  const misspelt = ['MILLRACE_', 'REDIS_'].flatMap((prefix) => {
    const namesOf = (list: readonly string[]): string[] =>
      list.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
    const known = namesOf(settings);
    return namesOf(Object.keys(env)).flatMap((name) => {
      const near = known.includes(name) || OF_KUBERNETES.test(name) ? undefined : nearest(name, known);
      return near === undefined ? [] : [{ name: prefix + name, near: prefix + near }];
    });
  });
  return [...prefixed, ...misspelt.filter(({ name }) => !prefixed.some((one) => one.name === name))];
}
