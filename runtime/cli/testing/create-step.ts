import type { OutboundHttp } from '../../ground/api/http-client.js';
import type { Input } from '../../ground/api/input.js';
import { INTERACTION_TYPES } from '../../ground/api/interactions.js';
import type { BuildContext } from '../../ground/api/build-context.js';
import type { Component } from '../../ground/api/component.js';
import type { Plugin } from '../../ground/api/plugin.js';
import type { PluginServices } from '../../ground/api/services.js';
import type { JsonObject } from '../../ground/api/types.js';
import { bindOptions, type BindExpression } from '../../request/compile/bind-options.js';
import { componentFaults } from '../../request/compile/check-component.js';
import { OptionFiles } from '../../request/compile/option-files.js';
import { checkOptions, type CheckedOptions } from '../../project/config/project/check-options.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { renderDiagnostics } from '../../project/config/diagnostics/render.js';
import { SourceFile } from '../../project/config/yaml/source.js';
import { parseYaml } from '../../project/config/yaml/yaml-document.js';
import { LinkedFolders } from '../../project/settings/linked-folders.js';
import { treeEngine } from '../../language/trees/tree-engine.js';
import { FakeServices } from './fake-services.js';

/** What a test gives to a component that it creates. */
export interface StepSetup {
  /** The options, as under `with:` in a pipeline. */
  readonly with?: JsonObject;
  /** The column of each expression of the options, and of each name that the component needs: made with a FakeStep. */
  readonly columns?: Readonly<Record<string, Input>>;
  /** Contents of the files that options name. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
  readonly services?: PluginServices;
  /** By default no server may be called. */
  readonly http?: OutboundHttp;
  /** Finds optional packages; by default none is installed. */
  readonly findPackage?: BuildContext['findPackage'];
  /** The name of the step; by default that of the plugin. */
  readonly as?: string;
}

/**
 * Creates a component as the compiler does: it checks the options against the schema of the plugin, fills in defaults and
 * binds expressions.
 * @throws Error with the diagnostics if the options are wrong; what `create` throws
 */
export async function createStep(plugin: Plugin, setup: StepSetup = {}): Promise<Component> {
  const { columns = {} } = setup;
  const find = (name: string): Input => {
    const found = Object.hasOwn(columns, name) ? columns[name] : undefined;
    if (found === undefined) throw new Error(`the test sets no column for \`${name}\``);
    return found;
  };
  return createBound(plugin, setup, ({ value }) => find(value), find);
}

/** @param bind makes the input of an expression @param need makes the input of a name */
export async function createBound(
  plugin: Plugin,
  setup: StepSetup,
  bind: BindExpression,
  need: (name: string) => Input,
): Promise<Component> {
  const { http = NO_SERVER, services = new FakeServices().services, as = plugin.name } = setup;
  const diagnostics = new Diagnostics();
  const checked = optionsOf(plugin, setup.with, diagnostics);
  const contents = Object.entries(setup.files ?? {}).map(
    ([path, text]) => [path, Buffer.from(text)] as const,
  );
  const files = new OptionFiles('.', LinkedFolders.none, new Map(contents));
  const options = checked && (await bindOptions(checked, files, bind, diagnostics));
  if (options === undefined)
    throw new Error(renderDiagnostics(diagnostics.all, { color: false, width: 100 }));
  const build: BuildContext = {
    ...services,
    name: as,
    pipeline: 'test',
    candidateType: 'product',
    eventKinds: new Map(INTERACTION_TYPES.map((name, number) => [name, number])),
    need,
    needColumn: need,
    needCuration: ({ list }) => ({ list }),
    needEntities: (wanted) => {
      const keeper = wanted.open();
      return { keeper: () => keeper, lag: () => undefined, filter: () => undefined };
    },
    needInteractions: ({ of, with: by, value }) => ({
      history: 0,
      ids: of.slot,
      facet: value === undefined ? (by?.text ?? ':') : `:${value.name}`,
    }),
    trees: treeEngine,
    http,
    warn: () => undefined,
    findFile: (path) => files.find(path),
    findPackage: setup.findPackage ?? (() => undefined),
  };
  const created: unknown = await plugin.create(options as never, build);
  const [fault] = componentFaults(created, plugin.kind);
  if (fault !== undefined) throw new Error(fault.message);
  return created as Component;
}

/** Checks options as the compiler does. The YAML of a test is JSON. */
export function optionsOf(
  { options }: Pick<Plugin, 'options'>,
  given: JsonObject = {},
  diagnostics: Diagnostics,
): CheckedOptions | undefined {
  const file = new SourceFile('options.yaml', JSON.stringify(given, null, 1));
  const node = parseYaml(file, {}, diagnostics);
  return checkOptions(node, options, diagnostics, { file, start: 0, end: 0 });
}

const refuse = (): never => {
  throw new Error('the test allows no calls of other servers: give it a FakeHttp');
};
export const NO_SERVER: OutboundHttp = { open: refuse, guard: refuse };
