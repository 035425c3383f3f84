import type { InjectionToken } from 'tsyringe';
import type { Plugin } from './plugin.js';

/** The token of the plugin that `use: <name>` names. */
export function pluginToken(name: string): InjectionToken<Plugin> {
  return `plugin:${name}`;
}

/** The token of a service that plugins share. */
export function sharedServiceToken(name: string): InjectionToken<unknown> {
  return `service:${name}`;
}
