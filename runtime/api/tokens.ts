import type { InjectionToken } from 'tsyringe';
import type { Plugin } from './plugin.js';

/** Under which the container has the plugin that `use: <name>` names. */
export function pluginToken(name: string): InjectionToken<Plugin> {
  return `plugin:${name}`;
}
