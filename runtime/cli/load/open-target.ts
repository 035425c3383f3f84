import { keyTextProblem } from '../../serve/access/key-text.js';
import { MillraceError } from '../../ground/api/errors.js';
import { CLIENT_KEY, type SettingFlags } from '../../project/settings/settings.js';
import { settingsOf, type CliContext } from '../context.js';
import { HttpTarget } from './http-target.js';
import { LocalTarget } from './local-target.js';
import type { DataTarget, TargetWork } from './target.js';

/** The options that `addTargetFlags` adds to a command. */
export type TargetFlags = SettingFlags & { readonly url?: string };

/**
 * Returns the key of the user, if there is one.
 * @throws MillraceError invalid_setting if it has a typing error; the service would only say that it is not valid
 */
export function clientKey({ env }: CliContext): string | undefined {
  const key = env[CLIENT_KEY]?.trim();
  if (key === undefined || key === '') return undefined;
  const problem = keyTextProblem(key);
  if (problem !== undefined)
    throw new MillraceError('invalid_setting', `${CLIENT_KEY} is not a whole key: ${problem}`);
  return key;
}

/** Opens a running service. @param url its address @param canDoWithout see HttpTarget */
export function openService(context: CliContext, url: string, canDoWithout = true): HttpTarget {
  return new HttpTarget(url, clientKey(context), canDoWithout);
}

/** Opens the service that `--url` names, or the store of the settings. */
export async function openTarget(
  context: CliContext,
  flags: TargetFlags,
  work: TargetWork,
): Promise<DataTarget> {
  if (flags.url !== undefined) return openService(context, flags.url);
  // The log goes to standard output, which must contain only the command's answer.
  const settings = await settingsOf(context, flags);
  // A command reads each record only once, so it needs no cache.
  return await LocalTarget.open({ ...settings, logLevel: 'silent', resident: new Set<string>() }, work);
}
