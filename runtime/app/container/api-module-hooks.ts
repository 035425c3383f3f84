/** Customization hooks of Node 20, which run in a separate thread: see `resolveApiToThisCopy`. */
import type { InitializeHook, ResolveHook } from 'node:module';

interface Redirection {
  readonly specifier: string;
  readonly url: string;
}

let redirection: Redirection | undefined;

export const initialize: InitializeHook<Redirection> = (data) => {
  redirection = data;
};

export const resolve: ResolveHook = (specifier, context, next) =>
  specifier === redirection?.specifier
    ? { url: redirection.url, shortCircuit: true }
    : next(specifier, context);
