/** Checks what the module of a plugin folder, or of a package, exports. */
import { isDeepStrictEqual } from 'node:util';
import { isNode, parseDocument, type Document, type Pair, type Scalar } from 'yaml';
import type { SinkPlugin } from '../../../ground/api/ledger.js';
import { COMPONENT_KINDS, type Plugin } from '../../../ground/api/plugin.js';
import type { ReaderPlugin } from '../../../ground/api/reader.js';
import type { SourcePlugin } from '../../../ground/api/source.js';
import { NAME_PATTERN, type JsonObject } from '../../../ground/api/types.js';
import { schemaFaults, type SchemaFault } from '../../../project/config/project/check-schema.js';
import { nameHelp } from '../../../project/config/project/marks.js';
import { nearest } from '../../../ground/core/nearest.js';
import type { SourceFile, Span } from '../../../project/config/yaml/source.js';

/** An error in a plugin, with its location. */
export interface PluginFault {
  readonly at: Span;
  readonly message: string;
  readonly help?: string;
}

/** The information about a plugin's folder when its module is loaded. */
export interface PluginSource {
  /** The folder's name, which is also the plugin's. Undefined for a plugin of a package. */
  readonly name: string | undefined;
  /** What messages begin with, to tell the plugins of a package apart. */
  readonly about?: string;
  /** Where errors are reported: the start of index.js, or the package in millrace.yaml. */
  readonly index: Span;
  /** options.schema.json with its content, if it exists. */
  readonly schema: { readonly file: SourceFile; readonly value: unknown } | undefined;
  /** True if Millrace ships the plugin. The schemas of shipped plugins are compiled when a step uses them. */
  readonly isShipped: boolean;
}

/** What a plugin's folder declares: a component for pipelines, a sink, a source of messages, or a reader of views. */
export type Declared =
  | { readonly surface: 'component'; readonly plugin: Plugin }
  | { readonly surface: 'sink'; readonly plugin: SinkPlugin }
  | { readonly surface: 'source'; readonly plugin: SourcePlugin }
  | { readonly surface: 'reader'; readonly plugin: ReaderPlugin };

export interface DeclaredByFolder {
  /** One, or a sink and a source, each perhaps with a reader. */
  readonly declared: readonly Declared[];
}

/** @returns what the folder declares, or all its errors */
export function checkPlugin(
  exported: Readonly<Record<string, unknown>>,
  source: PluginSource,
): DeclaredByFolder | readonly PluginFault[] {
  const { plugin, sink, source: messages, reader } = exported;
  const wrong = (message: string, help: string): PluginFault[] => [{ at: source.index, message, help }];
  if ([plugin, sink, messages, reader].every((one) => one === undefined)) {
    const others = Object.keys(exported).filter((key) => key !== 'module.exports');
    const found = others.length === 0 ? 'it exports nothing' : `it exports ${others.join(', ')}`;
    return wrong(`it exports no \`plugin\`: ${found}`, PLUGIN_HELP);
  }
  const outside = sink === undefined ? 'source' : 'sink';
  if (plugin !== undefined && (sink ?? messages) !== undefined)
    return wrong(
      `it exports a \`plugin\` and a \`${outside}\`: a folder declares one of them`,
      `move the ${outside} to a folder of its own`,
    );
  const declared: Declared[] = [];
  const faults: PluginFault[] = [];
  const check = (given: unknown, surface: Declared['surface']): void => {
    const word = surface === 'component' ? 'plugin' : surface;
    if (typeof given !== 'object' || given === null) {
      const factory = FACTORIES[surface];
      faults.push(
        ...wrong(`its \`${word}\` is ${described(given)}`, `write: export const ${word} = ${factory}({ … })`),
      );
      return;
    }
    // The schemas of a source and of a reader are in files of their own.
    const place = surface === 'source' || surface === 'reader' ? { ...source, schema: undefined } : source;
    const found = commonFaults(given as Given, place, word);
    if (surface === 'component') faults.push(...kindFaults(given as Given, source));
    faults.push(...found);
    declared.push({ surface, plugin: given } as unknown as Declared);
  };
  if (plugin !== undefined) check(plugin, 'component');
  if (sink !== undefined) check(sink, 'sink');
  if (messages !== undefined) check(messages, 'source');
  if (reader !== undefined) check(reader, 'reader');
  return faults.length === 0 ? { declared } : faults;
}

/** How messages name what a plugin is. */
export type Surface = 'plugin' | 'sink' | 'source' | 'reader' | 'store engine' | 'service';

const FACTORIES = {
  component: 'definePlugin',
  sink: 'defineSink',
  source: 'defineSource',
  reader: 'defineReader',
} as const satisfies Record<Declared['surface'], string>;

const PLUGIN_HELP = 'write: export const plugin = definePlugin({ … })';

export type Given = Readonly<Record<string, unknown>>;

/** The faults of what components and sinks have in common. */
export function commonFaults(given: Given, source: PluginSource, what: Surface): PluginFault[] {
  const { index, name, about = '' } = source;
  const faults: PluginFault[] = [];
  const fault = (message: string, help?: string): void =>
    void faults.push({ at: index, message: about + message, ...(help === undefined ? {} : { help }) });
  if (name === undefined) {
    if (typeof given.name !== 'string' || !NAME_PATTERN.test(given.name))
      fault(
        `the ${what}'s \`name\` is ${described(given.name)}: expected a name such as \`near_by\``,
        typeof given.name === 'string' ? nameHelp(given.name) : undefined,
      );
  } else if (given.name !== name)
    fault(
      `the ${what}'s \`name\` is ${described(given.name)}, and its folder is \`${name}\``,
      'give both the same name',
    );
  if (typeof given.summary !== 'string' || given.summary.trim() === '')
    fault(
      `the ${what}'s \`summary\` is ${described(given.summary)}: expected a text of one line`,
      `say what the ${what} does`,
    );
  const method = what === 'store engine' ? 'open' : 'create';
  if (typeof given[method] !== 'function')
    fault(`the ${what}'s \`${method}\` is ${described(given[method])}: expected a function`);
  if (!source.isShipped && what !== 'store engine')
    faults.push(...optionsFaults(given.options, source, what));
  return faults;
}

export function kindFaults(given: Given, { index, about = '' }: PluginSource): PluginFault[] {
  const faults: PluginFault[] = [];
  const fault = (message: string, help?: string): void =>
    void faults.push({ at: index, message: about + message, ...(help === undefined ? {} : { help }) });
  if (!COMPONENT_KINDS.some((kind) => kind === given.kind)) {
    const guess = typeof given.kind === 'string' ? nearest(given.kind, COMPONENT_KINDS) : undefined;
    fault(
      `the plugin's \`kind\` is ${described(given.kind)}: expected one of ${COMPONENT_KINDS.join(', ')}`,
      guess === undefined ? undefined : `did you mean \`${guess}\`?`,
    );
  }
  if (given.amongCandidates !== undefined && given.amongCandidates !== true)
    fault(`the plugin's \`amongCandidates\` is ${described(given.amongCandidates)}: it is true or left out`);
  return faults;
}

function optionsFaults(
  options: unknown,
  { index, schema, about = '' }: PluginSource,
  what: Surface,
): PluginFault[] {
  if (typeof options !== 'object' || options === null || Array.isArray(options) || options instanceof Promise)
    return [
      {
        at: index,
        message: `${about}the ${what}'s \`options\` are ${described(options)}: expected a JSON Schema, the content of options.schema.json`,
        ...(options instanceof Promise ? { help: 'the schema is awaited or read with readFileSync' } : {}),
      },
    ];
  // A plugin may change the schema that it read, or define it in its code. Then the file does not show the location.
  const file = schema !== undefined && isDeepStrictEqual(schema.value, options) ? schema.file : undefined;
  return schemaFaults(options as JsonObject).map((one) => {
    const { message, help, path } = one;
    const at = file === undefined ? index : placeIn(file, one);
    const where = file === undefined && path.length > 0 ? `${about}options at /${path.join('/')}: ` : about;
    return { at, message: `${where}${message}`, ...(help === undefined ? {} : { help }) };
  });
}

/** Finds the location of a part of a schema in its file. A YAML parser keeps locations, and JSON is YAML. */
function placeIn(file: SourceFile, { path, inKey = false }: SchemaFault): Span {
  const document: Document = parseDocument(file.text);
  const node = inKey ? keyNode(document, path) : document.getIn(path, true);
  const [start, end] = (isNode(node) ? node.range : undefined) ?? [0, 0];
  return { file, start, end: oneLine(file.text, start, end) };
}

function keyNode(document: Document, path: readonly (string | number)[]): Scalar | undefined {
  const parent = document.getIn(path.slice(0, -1), true) as { readonly items?: readonly Pair<Scalar>[] };
  return parent.items?.find(({ key }) => key.value === path.at(-1))?.key;
}

/** Messages show only the first line of a location. */
function oneLine(text: string, start: number, end: number): number {
  const newline = text.indexOf('\n', start);
  return newline === -1 ? end : Math.min(end, newline);
}

/** Formats a value for messages. */
export function described(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (typeof value === 'string') return `\`${value.length > 60 ? `${value.slice(0, 60)}…` : value}\``;
  if (typeof value === 'number' || typeof value === 'boolean') return `\`${String(value)}\``;
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Promise) return 'a promise';
  return typeof value === 'function' ? 'a function' : 'an object';
}
