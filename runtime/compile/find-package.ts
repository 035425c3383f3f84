import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Finds packages as a module of the project's folder would, then as Millrace itself does. */
export function packageFinder(root: string): (name: string) => string | undefined {
  const finders = [createRequire(join(root, 'package.json')), createRequire(import.meta.url)];
  return (name) => {
    for (const finder of finders) {
      try {
        return finder.resolve(name);
      } catch {
        // Not there; the next may have it.
      }
    }
    return undefined;
  };
}
