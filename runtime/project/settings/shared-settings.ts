import { createHash } from 'node:crypto';
import type { SettingRow } from './setting-row.js';
import { SETTINGS, type Settings } from './settings.js';

/** Hexadecimal digits of a digest. Few, so that nobody can check a guess of a secret with it. */
const DIGITS = 8;

/** The settings that all instances of a service need with the same value: a digest of each value, by variable. */
export function sharedSettings(settings: Settings): Readonly<Record<string, string>> {
  const rows = Object.entries<SettingRow<unknown>>(SETTINGS).filter(([, { shared }]) => shared === true);
  return Object.fromEntries(
    rows.map(([name, { env }]) => [
      env,
      digest([settings.prefix, env, plain(settings[name as keyof Settings])]),
    ]),
  );
}

const plain = (value: unknown): unknown => (value instanceof Set ? [...value].sort() : value);

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, DIGITS);
