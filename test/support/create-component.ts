import type { OutboundHttp } from '../../runtime/api/http-client.js';
import type { BuildContext, Component, Plugin, WarmNotices } from '../../runtime/api/plugin.js';
import type { Input } from '../../runtime/api/input.js';
import { treeEngine } from '../../runtime/trees/tree-engine.js';
import { addingServers } from './inference.js';
import { findTestPackage } from './onnx-runtime.js';

/** For components that warm up without a word, or with words that a test does not ask after. */
export const NO_NOTICES: WarmNotices = { warn: () => undefined };

/**
 * Builds a component as the compiler does once the options are checked and bound.
 * @param need finds the inputs that the component asks for by name; without it, asking is an error
 * @param http reaches other servers; model servers in this process unless given
 */
export function createComponent(
  plugin: Plugin,
  options: unknown,
  need?: (name: string) => Input,
  http: OutboundHttp = addingServers,
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
    needInteractions: ({ of, with: by }) => ({ history: 0, ids: of.slot, facet: by.text }),
    trees: treeEngine,
    http,
    findPackage: findTestPackage,
  };
  return plugin.create(options as never, build);
}
