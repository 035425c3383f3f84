import { InvalidArgumentError, Option, type Command } from 'commander';
import { TIME_FORMS, timestampOf } from '../ground/core/timestamp.js';
import { SETTINGS, type SettingName, type SettingRow } from '../project/settings/settings.js';

/** Adds the flags of settings to a command, with descriptions from the settings table. */
export function addSettingFlags(command: Command, names: readonly SettingName[]): Command {
  for (const name of names) {
    const setting: SettingRow<unknown> = SETTINGS[name];
    if (setting.flag === undefined) continue;
    const otherwise = setting.default === '' ? '' : `, default ${setting.default}`;
    const text = `${setting.description.replaceAll('`', '')} [${setting.env}${otherwise}]`;
    command.addOption(new Option(`--${setting.flag} <${setting.value}>`, text));
  }
  return command;
}

/** Flags that choose the project and the store of a data command, or the service. */
export function addTargetFlags(command: Command): Command {
  command.addOption(serviceOption('use this running service instead of the store of the settings'));
  return addSettingFlags(command, ['project', 'store', 'dataDir']);
}

/** The flag that names a service, for a command that works on no store by itself. */
export function addServiceFlag(command: Command): Command {
  return command.addOption(serviceOption('the running service').makeOptionMandatory());
}

/** The flag with the address of a running service. */
export function serviceOption(text: string): Option {
  return new Option('--url <URL>', text).argParser(httpUrl);
}

/** Reads the value of a flag that is a time. */
export function timeFlag(text: string): number {
  const time = timestampOf(/^\d+$/.test(text) ? Number(text) : text);
  if (Number.isNaN(time)) throw new InvalidArgumentError(`Expected ${TIME_FORMS}.`);
  return time;
}

export function httpUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('Expected an address such as http://127.0.0.1:5001.');
}
