import type { SettingFlags } from '../../settings/settings.js';
import { settingsOf, type CliContext } from '../context.js';
import { HttpTarget } from './http-target.js';
import { LocalTarget } from './local-target.js';
import type { DataTarget, TargetWork } from './target.js';

/** The options that `addTargetFlags` adds to a command. */
export type TargetFlags = SettingFlags & { readonly url?: string };

/** Opens the service that `--url` names, or the store of the settings. */
export async function openTarget(
  context: CliContext,
  flags: TargetFlags,
  work: TargetWork,
): Promise<DataTarget> {
  if (flags.url !== undefined) return new HttpTarget(flags.url);
  // The log goes to standard output, which must contain only the command's answer.
  const settings = await settingsOf(context, flags);
  // A command reads each record only once, so it needs no cache.
  return await LocalTarget.open({ ...settings, logLevel: 'silent', resident: new Set<string>() }, work);
}
