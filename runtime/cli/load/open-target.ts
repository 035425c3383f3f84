import type { SettingFlags } from '../../settings/settings.js';
import { settingsOf, type CliContext } from '../context.js';
import { HttpTarget } from './http-target.js';
import { LocalTarget } from './local-target.js';
import type { DataTarget, TargetWork } from './target.js';

/** What `addTargetFlags` leaves in a command's options. */
export type TargetFlags = SettingFlags & { readonly url?: string };

/** The service that `--url` names, else the store of the settings. */
export async function openTarget(
  context: CliContext,
  flags: TargetFlags,
  work: TargetWork,
): Promise<DataTarget> {
  if (flags.url !== undefined) return new HttpTarget(flags.url);
  // The log goes to standard output, which is for the command's own answer.
  const settings = settingsOf(context, flags);
  // A command reads nothing twice, so it keeps nothing.
  return await LocalTarget.open({ ...settings, logLevel: 'silent', resident: new Set<string>() }, work);
}
