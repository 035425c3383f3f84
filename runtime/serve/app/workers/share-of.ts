import { isRate, shareOfRate, type Rate } from '../../../ground/core/rate.js';
import {
  SETTINGS,
  type SettingName,
  type SettingRow,
  type Settings,
} from '../../../project/settings/settings.js';

/**
 * Returns the settings of one worker: its share of each limit of the whole service, rounded up. The memory for bodies
 * always has room for the largest body.
 * @param rows the settings table
 */
export function shareOf(
  settings: Settings,
  workers: number,
  rows: Readonly<Record<string, SettingRow<unknown>>> = SETTINGS,
): Settings {
  const shared = Object.entries(rows).flatMap(([name, row]): (readonly [string, number | Rate])[] => {
    const value: unknown = settings[name as SettingName];
    if (row.dividedByWorkers !== true) return [];
    if (typeof value === 'number') return [[name, Math.ceil(value / workers)]];
    return isRate(value) ? [[name, shareOfRate(value, workers)]] : [];
  });
  const share: Settings = { ...settings, ...Object.fromEntries(shared) };
  const bodyMemory = Math.max(share.bodyMemory, settings.rankingBytes, settings.uploadBytes);
  return Object.freeze({ ...share, bodyMemory });
}
