import type { Schema } from './types.js';

const PREFIX = '#/components/';

/**
 * Returns the components that the paths refer to, directly or through other components. Security schemes are kept: they
 * are referred to by name.
 * @param components by kind, then by name
 */
export function usedComponents(
  paths: Schema,
  components: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): Schema {
  const used = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value === 'string' && value.startsWith(PREFIX) && !used.has(value)) {
      used.add(value);
      const [kind = '', name = ''] = value.slice(PREFIX.length).split('/');
      visit(components[kind]?.[name]);
    } else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  visit(paths);
  return Object.fromEntries(
    Object.entries(components).map(([kind, all]) => [
      kind,
      kind === 'securitySchemes'
        ? all
        : Object.fromEntries(Object.entries(all).filter(([name]) => used.has(`${PREFIX}${kind}/${name}`))),
    ]),
  );
}
