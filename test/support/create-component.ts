import type { OutboundHttp } from '../../runtime/ground/api/http-client.js';
import type { BuildContext } from '../../runtime/ground/api/build-context.js';
import type { Component } from '../../runtime/ground/api/component.js';
import type { WarmNotices } from '../../runtime/ground/api/component-life.js';
import type { Plugin } from '../../runtime/ground/api/plugin.js';
import type { Input } from '../../runtime/ground/api/input.js';
import { DEFAULT_EVENTS, eventNumbers } from '../../runtime/project/config/project/load-events.js';
import { FakeServices } from '../../runtime/cli/testing/fake-services.js';
import { treeEngine } from '../../runtime/language/trees/tree-engine.js';
import { addingServers } from './inference.js';
import { findTestPackage } from './onnx-runtime.js';

/** For components whose warm-up notices do not matter to a test. */
export const NO_NOTICES: WarmNotices = { warn: () => undefined };

/**
 * Creates a component like the compiler, after the options are checked and bound.
 * @param need finds the inputs that the component requests by name; without it, a request is an error
 * @param http calls other servers; the default is model servers in this process
 */
export function createComponent(
  plugin: Plugin,
  options: unknown,
  need?: (name: string) => Input,
  http: OutboundHttp = addingServers,
): Component | Promise<Component> {
  const find = (name: string): Input => {
    if (need === undefined) throw new Error(`there is no input ${name}`);
    return need(name);
  };
  const build: BuildContext = {
    ...new FakeServices().services,
    name: plugin.name,
    pipeline: 'test',
    candidateType: 'product',
    need: find,
    needColumn: find,
    eventKinds: eventNumbers(DEFAULT_EVENTS),
    needCuration: ({ list }) => ({ list }),
    needEntities: (wanted) => {
      const keeper = wanted.open();
      return { keeper: () => keeper, lag: () => undefined, filter: () => undefined };
    },
    needInteractions: ({ of, with: by }) => ({ history: 0, ids: of.slot, facet: by?.text ?? ':' }),
    trees: treeEngine,
    http,
    warn: () => undefined,
    findFile: () => Promise.resolve(undefined),
    findPackage: findTestPackage,
  };
  return plugin.create(options as never, build);
}
