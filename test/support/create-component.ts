import type { BuildContext, Component, Input, Plugin } from '../../runtime/api/plugin.js';

/**
 * Builds a component as the compiler does once the options are checked and bound.
 * @param need finds the inputs that the component asks for by name; without it, asking is an error
 */
export function createComponent(
  plugin: Plugin,
  options: unknown,
  need?: (name: string) => Input,
): Component | Promise<Component> {
  const build: BuildContext = {
    name: plugin.name,
    candidateType: 'product',
    need(name) {
      if (need === undefined) throw new Error(`nothing is called ${name}`);
      return need(name);
    },
  };
  return plugin.create(options as never, build);
}
