import type { BuildContext, Component, Input, Plugin } from '../../runtime/api/plugin.js';
import { treeEngine } from '../../runtime/trees/tree-engine.js';

/**
 * Builds a component as the compiler does once the options are checked and bound.
 * @param need finds the inputs that the component asks for by name; without it, asking is an error
 */
export function createComponent(
  plugin: Plugin,
  options: unknown,
  need?: (name: string) => Input,
): Component | Promise<Component> {
  const find = (name: string): Input => {
    if (need === undefined) throw new Error(`nothing is called ${name}`);
    return need(name);
  };
  const build: BuildContext = {
    name: plugin.name,
    candidateType: 'product',
    need: find,
    needColumn: find,
    trees: treeEngine,
  };
  return plugin.create(options as never, build);
}
