import Module, * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';
import { inheritVersion } from './module-version.js';

/** The module that plugins import. */
const SPECIFIER = 'millrace/api';

const API = new URL('../../../ground/sdk/index.js', import.meta.url);

let installed = false;

/**
 * Resolves `millrace/api` to the running copy, for every module that is loaded later. A project therefore needs no
 * `node_modules` for its plugins. A project with another copy of Millrace gets this copy, too. The modules of changed
 * plugins are imported again with what they import by relative paths.
 */
export function resolveApiToThisCopy(): void {
  if (installed) return;
  installed = true;
  const { registerHooks } = nodeModule as unknown as Partial<SynchronousHooks>;
  if (registerHooks !== undefined) {
    registerHooks({
      resolve: (specifier, context, next) => {
        if (specifier === SPECIFIER) return { url: API.href, shortCircuit: true };
        const resolved = next(specifier, context);
        return { ...resolved, url: inheritVersion(specifier, context.parentURL, resolved.url) };
      },
    });
    return;
  }
  // Node 20: `import` uses the thread of hooks, `require` uses this function.
  nodeModule.register('./api-module-hooks.js', {
    parentURL: import.meta.url,
    data: { specifier: SPECIFIER, url: API.href },
  });
  const loader = Module as unknown as CommonJsLoader;
  const resolve = loader._resolveFilename.bind(loader);
  loader._resolveFilename = (request, ...rest) =>
    request === SPECIFIER ? fileURLToPath(API) : resolve(request, ...rest);
}

interface Resolved {
  readonly url: string;
  readonly shortCircuit?: boolean;
}

/**
 * Available in Node 22.15 and later:
 * https://nodejs.org/api/module.html#synchronous-hooks-accepted-by-moduleregisterhooks
 */
interface SynchronousHooks {
  registerHooks(hooks: {
    resolve(
      specifier: string,
      context: { readonly parentURL?: string },
      next: (specifier: string, context: object) => Resolved,
    ): Resolved;
  }): unknown;
}

interface CommonJsLoader {
  _resolveFilename(request: string, ...rest: unknown[]): string;
}
