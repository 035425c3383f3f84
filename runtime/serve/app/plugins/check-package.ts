/** Checks what the module of a package exports: lists of plugins, sinks, sources and store engines. */
import type { SinkPlugin } from '../../../ground/api/ledger.js';
import type { Plugin } from '../../../ground/api/plugin.js';
import type { SourcePlugin } from '../../../ground/api/source.js';
import type { StoreEnginePlugin } from '../../../ground/api/store-engine.js';
import type { Span } from '../../../project/config/yaml/source.js';
import { nearest } from '../../../ground/core/nearest.js';
import {
  commonFaults,
  described,
  kindFaults,
  type Given,
  type PluginFault,
  type Surface,
} from './check-plugin.js';

/** What a package holds. Its members are copies that its code cannot change any more. */
export interface PackageContents {
  readonly plugins: readonly Plugin[];
  readonly sinks: readonly SinkPlugin[];
  readonly sources: readonly SourcePlugin[];
  readonly stores: readonly StoreEnginePlugin[];
}

/** The exports that count, with the word for one of their members. */
const SURFACES = {
  plugins: 'plugin',
  sinks: 'sink',
  sources: 'source',
  stores: 'store engine',
} as const satisfies Record<keyof PackageContents, Surface>;

const NAMES = Object.keys(SURFACES) as (keyof PackageContents)[];
const HELP = 'write: export const plugins = [definePlugin({ … })]';

/** @returns what the package holds, or all its errors */
export function checkPackage(
  exported: Readonly<Record<string, unknown>>,
  at: Span,
  about: string,
): PackageContents | readonly PluginFault[] {
  const faults: PluginFault[] = [];
  const contents: Record<keyof PackageContents, unknown[]> = {
    plugins: [],
    sinks: [],
    sources: [],
    stores: [],
  };
  const fault = (message: string, help: string): void =>
    void faults.push({ at, message: about + message, help });
  const given = NAMES.filter((name) => exported[name] !== undefined);
  if (given.length === 0) {
    const others = Object.keys(exported);
    const guess = others.map((one) => nearest(one, NAMES)).find((one) => one !== undefined);
    fault(
      `it exports no plugins: ${others.length === 0 ? 'it exports nothing' : `it exports ${others.join(', ')}`}`,
      guess === undefined ? HELP : `did you mean \`${guess}\`? ${HELP}`,
    );
  }
  for (const name of given) {
    const list = exported[name];
    if (!Array.isArray(list) || list.length === 0) {
      fault(`its \`${name}\` is ${described(list)}: expected a list of ${SURFACES[name]}s`, HELP);
      continue;
    }
    for (const [index, one] of (list as readonly unknown[]).entries()) {
      const copied = copyOf(one, name, { at, about: `${about}${name}[${index}]: ` });
      if (Array.isArray(copied)) faults.push(...(copied as readonly PluginFault[]));
      else contents[name].push(copied);
    }
  }
  return faults.length > 0 ? faults : (contents as unknown as PackageContents);
}

/** Reads each member of a plugin once, because a getter or a proxy could answer differently later. */
function copyOf(
  given: unknown,
  list: keyof PackageContents,
  { at, about }: { readonly at: Span; readonly about: string },
): object | readonly PluginFault[] {
  const what = SURFACES[list];
  if (typeof given !== 'object' || given === null || given instanceof Promise || Array.isArray(given))
    return [{ at, message: `${about}expected a ${what}, found ${described(given)}`, help: HELP }];
  try {
    const source = given as Given;
    const { name, kind, summary, options, amongCandidates, create, open, isShared } = source;
    const schema = typeof options === 'object' && options !== null ? plainCopy(options) : options;
    const copy = { name, kind, summary, options: schema, amongCandidates, create, open };
    const place = { name: undefined, about, index: at, schema: undefined, isShipped: false };
    const faults = [
      ...(list === 'plugins' ? kindFaults(copy, place) : []),
      ...commonFaults(copy, place, what),
    ];
    if (faults.length > 0) return faults;
    const made = (first: unknown, second: unknown): unknown =>
      ((list === 'stores' ? open : create) as (first: unknown, second: unknown) => unknown).call(
        source,
        first,
        second,
      );
    if (list === 'stores') return Object.freeze({ name, summary, isShared: isShared === true, open: made });
    const members = { name, summary, options: schema };
    if (list === 'sinks' || list === 'sources') return Object.freeze({ ...members, create: made });
    const among = amongCandidates === true ? { amongCandidates } : {};
    return Object.freeze({ ...members, kind, ...among, create: made });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [{ at, message: `${about}the ${what} cannot be read: ${reason}` }];
  }
}

/** A promise has no members, so it stays what it is. */
function plainCopy(options: object): unknown {
  return options instanceof Promise ? options : (JSON.parse(JSON.stringify(options)) as unknown);
}
