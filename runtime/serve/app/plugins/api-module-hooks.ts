/** Customization hooks of Node 20, which run in a separate thread: see `resolveApiToThisCopy`. */
import type { InitializeHook, ResolveHook } from 'node:module';
import { inheritVersion } from './module-version.js';

interface Redirection {
  readonly specifier: string;
  readonly url: string;
}

let redirection: Redirection | undefined;

export const initialize: InitializeHook<Redirection> = (data) => {
  redirection = data;
};

export const resolve: ResolveHook = async (specifier, context, next) => {
  if (specifier === redirection?.specifier) return { url: redirection.url, shortCircuit: true };
  const resolved = await next(specifier, context);
  return { ...resolved, url: inheritVersion(specifier, context.parentURL, resolved.url) };
};
