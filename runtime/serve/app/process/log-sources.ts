import type { Logger } from 'pino';
import { keyOf } from '../../../project/settings/setting-row.js';
import { SETTINGS, type SettingName, type Settings } from '../../../project/settings/settings.js';

/** Logs which settings are not defaults, and where they come from. The values can be secret, so they are left out. */
export function logSources(logger: Logger, { sources }: Settings): void {
  const from = (kind: string): string[] =>
    (Object.keys(SETTINGS) as SettingName[])
      .filter((name) => sources.origins[name].kind === kind)
      .map((name) => keyOf(SETTINGS[name]));
  logger.info(
    {
      project: sources.projectName,
      from_flags: from('flag'),
      from_environment: from('environment'),
      from_file: from('file'),
    },
    'settings',
  );
}
