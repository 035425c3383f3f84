/** Checks what the module of a package exports: lists of plugins, sinks, sources, readers and store engines, and services. */
import type { SinkPlugin } from '../../../ground/api/ledger.js';
import type { Plugin } from '../../../ground/api/plugin.js';
import type { ReaderPlugin } from '../../../ground/api/reader.js';
import type { SourcePlugin } from '../../../ground/api/source.js';
import type { ServicePlugin } from '../../../ground/api/shared-service.js';
import type { StoreEnginePlugin } from '../../../ground/api/store-engine.js';
import type { JsonObject } from '../../../ground/api/types.js';
import type { Span } from '../../../project/config/yaml/source.js';
import { nearest } from '../../../ground/core/nearest.js';
import {
  commonFaults,
  described,
  kindFaults,
  type Given,
  type PluginFault,
  type PluginSource,
  type Surface,
} from './check-plugin.js';

/** What a package holds. Its members are copies that its code cannot change any more. */
export interface PackageContents {
  readonly plugins: readonly Plugin[];
  readonly sinks: readonly SinkPlugin[];
  readonly sources: readonly SourcePlugin[];
  readonly readers: readonly ReaderPlugin[];
  readonly stores: readonly StoreEnginePlugin[];
  readonly services: readonly NamedService[];
}

/** A service that plugins share, with its name. */
export type NamedService = ServicePlugin & {
  readonly name: string;
  readonly options: JsonObject;
  readonly needs: readonly string[];
};

/** The exports that count, with the word for one of their members. */
const SURFACES = {
  plugins: 'plugin',
  sinks: 'sink',
  sources: 'source',
  readers: 'reader',
  stores: 'store engine',
  services: 'service',
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
    readers: [],
    stores: [],
    services: [],
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
    const list = name === 'services' ? namedIn(exported[name]) : exported[name];
    if (!Array.isArray(list) || list.length === 0) {
      fault(
        `its \`${name}\` is ${described(list)}: expected a ${name === 'services' ? 'mapping of names to' : 'list of'} ${SURFACES[name]}s`,
        HELP,
      );
      continue;
    }
    for (const [index, one] of (list as readonly unknown[]).entries()) {
      const copied = copyOf(one, name, {
        at,
        about: `${about}${name === 'services' ? `services.${String((one as Given).name)}` : `${name}[${index}]`}: `,
      });
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
    const written = list === 'services' ? (options ?? NO_OPTIONS) : options;
    const schema = typeof written === 'object' && written !== null ? plainCopy(written) : written;
    const copy = { name, kind, summary, options: schema, amongCandidates, create, open };
    const place = { name: undefined, about, index: at, schema: undefined, isShipped: false };
    const faults = [
      ...(list === 'plugins' ? kindFaults(copy, place) : []),
      ...commonFaults(copy, place, what),
    ];
    if (list === 'services') faults.push(...serviceFaults(source, place));
    if (faults.length > 0) return faults;
    const made = (first: unknown, second: unknown): unknown =>
      ((list === 'stores' ? open : create) as (first: unknown, second: unknown) => unknown).call(
        source,
        first,
        second,
      );
    if (list === 'stores') return Object.freeze({ name, summary, isShared: isShared === true, open: made });
    const members = { name, summary, options: schema };
    if (list === 'services') {
      const { needs = [], close, health } = source as Partial<NamedService>;
      const more = {
        ...(close && { close: close.bind(source) }),
        ...(health && { health: health.bind(source) }),
      };
      return Object.freeze({ ...members, needs: [...needs], create: made, ...more });
    }
    if (list !== 'plugins') return Object.freeze({ ...members, create: made });
    const among = amongCandidates === true ? { amongCandidates } : {};
    return Object.freeze({ ...members, kind, ...among, create: made });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [{ at, message: `${about}the ${what} cannot be read: ${reason}` }];
  }
}

const NO_OPTIONS: JsonObject = { type: 'object', additionalProperties: false, properties: {} };

/** The services of a mapping, each with its name. */
function namedIn(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  return Object.entries(given).map(([name, one]): unknown =>
    typeof one === 'object' && one !== null
      ? Object.create(one as object, { name: { value: name } })
      : { name },
  );
}

function serviceFaults(source: Given, { index, about = '' }: PluginSource): PluginFault[] {
  const { needs } = source;
  const faults = (['close', 'health'] as const).flatMap((method): PluginFault[] => {
    const given = source[method];
    if (given === undefined || typeof given === 'function') return [];
    return [
      {
        at: index,
        message: `${about}the service's \`${method}\` is ${described(given)}: expected a function`,
      },
    ];
  });
  const areNames =
    needs === undefined || (Array.isArray(needs) && needs.every((one) => typeof one === 'string'));
  if (!areNames)
    faults.push({
      at: index,
      message: `${about}the service's \`needs\` is ${described(needs)}: expected a list of names`,
    });
  return faults;
}

/** A promise has no members, so it stays what it is. */
function plainCopy(options: object): unknown {
  return options instanceof Promise ? options : (JSON.parse(JSON.stringify(options)) as unknown);
}
