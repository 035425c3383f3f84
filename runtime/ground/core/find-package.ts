import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Resolves packages from the project's folder first, then from Millrace's own folder. */
export function packageFinder(root: string): (name: string) => string | undefined {
  const finders = [createRequire(join(root, 'package.json')), createRequire(import.meta.url)];
  return (name) => {
    for (const finder of finders) {
      try {
        return finder.resolve(name);
      } catch {
        // The next finder may have it.
      }
    }
    return undefined;
  };
}
