import { createHash } from 'node:crypto';
import { typeText } from '../../ground/api/types.js';
import type { EntityType } from '../../project/config/model/entities.js';
import { isElsewhere, type FeatureView } from '../../project/config/model/views.js';
import { InstanceEntries, type InstanceEntry } from '../instances/instance-entries.js';
import type { RecordLayout } from '../store/codec/record-layout.js';
import { entityKey, servicesKey } from '../store/keys.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import type { StoreMonitor } from '../store/store-monitor.js';
import type { Store } from '../store/store.js';
import { entityLayout } from './entity-index.js';
import { viewLayout } from './stored-views.js';

/** Interval at which a service publishes its schemas, and the lifetime of the published entry, in milliseconds. */
const SAY_EVERY = 20_000;
const HOLDS_FOR = 90_000;
/** Time limit of the search for data, in milliseconds. */
const SEARCH_WITHIN = 2000;
const MOST_DIFFERENCES = 5;

/** The declarations of a project that determine the records in the store. */
export interface DeclaredSchemas {
  readonly entities: ReadonlyMap<string, EntityType>;
  readonly views: ReadonlyMap<string, FeatureView>;
}

/** The entry of one service in the record. */
interface Service extends InstanceEntry {
  /** The project's folder. */
  readonly project: string;
  /** `entity product` or `view stats` → layout id. */
  readonly layouts: Readonly<Record<string, string>>;
  /** Digests of settings that all instances share, by variable. Version 0.1.0 has none. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface ServiceSchemasParts {
  readonly store: Store;
  readonly layouts: LayoutRegistry;
  /** Start of every store key. */
  readonly prefix: string;
  readonly monitor: StoreMonitor;
  readonly instance: string;
  readonly project: string;
  /** See `sharedSettings`. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Detects services that use the same prefix with different schemas, or with different settings that must be equal. Each
 * service regularly publishes its schemas in one record of the store. An upload replaces a whole record, so services with
 * different schemas of a type overwrite each other's entities. Each service then logs a warning. It is not an error,
 * because a rolling deployment of a change has the same effect for a while.
 */
export class ServiceSchemas {
  readonly #parts: ServiceSchemasParts;
  readonly #entries: InstanceEntries<Service>;
  #own: ReadonlyMap<string, RecordLayout> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** The starts of the keys of entities and features. */
  #starts: readonly string[] = [];
  /** Whether the store has data: undefined before this process has seen any, false after it was lost. */
  #hasData: boolean | undefined;

  constructor(parts: ServiceSchemasParts) {
    this.#parts = parts;
    this.#entries = new InstanceEntries(parts.store, servicesKey(parts.prefix), isService);
  }

  /** Publishes the schemas of this service and compares them with those of other services. Never rejects. */
  async use(schemas: DeclaredSchemas): Promise<void> {
    this.#own = layoutsOf(schemas);
    const { prefix } = this.#parts;
    this.#starts = [
      ...Array.from(schemas.entities.keys(), (type) => entityKey(prefix, type, '')),
      ...Array.from(schemas.views.values(), ({ group }) => `${prefix}:${group}:`),
    ];
    this.#timer ??= setInterval(() => void this.#say(), SAY_EVERY).unref();
    await this.#say();
  }

  /**
   * Compares the schemas with those of running services, without publishing them.
   * @throws MillraceError with a code of STORE_READ_FAILURES
   */
  async look(schemas: DeclaredSchemas): Promise<void> {
    this.#own = layoutsOf(schemas);
    await this.#compare(this.#othersIn(await this.#entries.read(), Date.now()));
  }

  /** Removes the entry of this service. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    if (this.#own.size > 0) await this.#change([]).catch(() => undefined);
  }

  /** Publishes and compares the schemas. A failure is ignored: the next interval retries. */
  async #say(): Promise<void> {
    if (this.#isClosed) return;
    const { store, layouts } = this.#parts;
    try {
      const { others, isKnown } = await this.#change([this.#service()]);
      if (!isKnown || this.#hasData !== true) await this.#lookForData();
      await store.write([...this.#own.values()].map((layout) => layouts.record(layout)));
      await this.#compare(others);
    } catch {
      // The store is lost or refuses writes. The store monitor logs that.
    }
  }

  /** A store that lost the entry of this service may have lost everything. A store that never had data is no fault. */
  async #lookForData(): Promise<void> {
    const { store, prefix, monitor } = this.#parts;
    const within = AbortSignal.timeout(SEARCH_WITHIN);
    let isFound = false;
    for (const start of this.#starts) isFound ||= (await store.sampleKeys(start, 1, within)).length > 0;
    if (!isFound && (this.#hasData === undefined || within.aborted)) return;
    this.#hasData = isFound;
    const detail = `the store had entities or features under the prefix ${prefix}, and has none now: it was flushed, restarted without its files, or replaced by an empty one. Load the data again, or restore a backup`;
    monitor.setWarning('store_emptied', '', isFound ? undefined : detail);
  }

  #service(): Service {
    const { instance, project, settings } = this.#parts;
    const ids = [...this.#own].map(([name, { hex }]) => [name, hex] as const);
    return { instance, project, seen: Date.now(), layouts: Object.fromEntries(ids), settings };
  }

  /** Replaces the entry of this service; returns the entries of others, and whether it had an own one. */
  async #change(own: readonly Service[]): Promise<{ others: readonly Service[]; isKnown: boolean }> {
    const now = Date.now();
    const before = await this.#entries.change(now, (all) => [...this.#othersIn(all, now), ...own]);
    const isKnown = before.some(({ instance }) => instance === this.#parts.instance);
    return { others: this.#othersIn(before, now), isKnown };
  }

  /** The current entries of other services. */
  #othersIn(entries: readonly Service[], now: number): readonly Service[] {
    const { instance } = this.#parts;
    return entries.filter((one) => one.instance !== instance && Math.abs(now - one.seen) < HOLDS_FOR);
  }

  async #compare(others: readonly Service[]): Promise<void> {
    this.#compareSettings(others);
    const { layouts, monitor, prefix } = this.#parts;
    const clashing = others.filter((other) => this.#clashes(other).length > 0);
    await layouts.resolve(
      clashing.flatMap((other) => this.#clashes(other).map((name) => other.layouts[name] ?? '')),
    );
    for (const other of clashing) {
      const names = this.#clashes(other);
      const differences = names.flatMap((name) => this.#differences(name, other.layouts[name] ?? ''));
      const more = differences.length - MOST_DIFFERENCES;
      monitor.setWarning(
        'schemas_differ',
        other.instance,
        `the service ${other.instance} (project ${other.project}) uses the prefix ${prefix} with other schemas ` +
          `(${schemaId(other.layouts, names)}; here ${schemaId(this.#service().layouts, names)}): ` +
          `${differences.slice(0, MOST_DIFFERENCES).join('; ')}${more > 0 ? `; and ${more} more` : ''}. ` +
          'Each upload replaces what the other service needs. If this is a rolling deployment, the warning ends with it; ' +
          'otherwise give each service its own MILLRACE_PREFIX',
      );
    }
    monitor.keepWarnings('schemas_differ', new Set(clashing.map(({ instance }) => instance)));
  }

  #compareSettings(others: readonly Service[]): void {
    const { settings, monitor, prefix } = this.#parts;
    const differing = new Map(
      others.flatMap((other) => {
        const names = Object.entries(other.settings ?? {}).flatMap(([name, digest]) =>
          settings[name] === undefined || settings[name] === digest ? [] : [name],
        );
        return names.length === 0 ? [] : [[other, names] as const];
      }),
    );
    for (const [{ instance, project }, names] of differing)
      monitor.setWarning(
        'settings_differ',
        instance,
        `the service ${instance} (project ${project}) uses the prefix ${prefix} with other values of ${names.join(', ')}. ` +
          'If this is a rolling deployment, the warning ends with it; otherwise give all instances the same values, ' +
          'or each service its own MILLRACE_PREFIX',
      );
    monitor.keepWarnings(
      'settings_differ',
      new Set(Array.from(differing.keys(), ({ instance }) => instance)),
    );
  }

  /** The types and views that both services have, with different layouts. */
  #clashes({ layouts }: Service): string[] {
    return [...this.#own].flatMap(([name, { hex }]) => {
      const other = layouts[name];
      return other === undefined || other === hex ? [] : [name];
    });
  }

  #differences(name: string, hex: string): string[] {
    const own = this.#own.get(name);
    const other = this.#parts.layouts.get(hex);
    const subject = name.split(' ')[1] ?? name;
    if (own === undefined || other === undefined) return [`${subject} has another schema there`];
    const separator = name.startsWith('view ') ? ':' : '.';
    const found = [...new Set([...own.byName.keys(), ...other.byName.keys()])].flatMap((field) => {
      const [here, there] = [own.byName.get(field), other.byName.get(field)];
      const shown = `${subject}${separator}${field}`;
      if (here === undefined) return [`${shown} is only there`];
      if (there === undefined) return [`${shown} is only here`];
      const [hereType, thereType] = [typeText(here.type), typeText(there.type)];
      return hereType === thereType ? [] : [`${shown} is ${hereType} here and ${thereType} there`];
    });
    return found.length > 0 ? found : [`${subject} has another key there`];
  }
}

/** The layouts of the records of a project, by `entity NAME` or `view NAME`. */
function layoutsOf({ entities, views }: DeclaredSchemas): Map<string, RecordLayout> {
  return new Map([
    ...Array.from(entities.values(), (type) => [`entity ${type.name}`, entityLayout(type)] as const),
    ...Array.from(views.values())
      .filter((view) => !isElsewhere(view))
      .map((view) => [`view ${view.name}`, viewLayout(view)] as const),
  ]);
}

/** A short hash of the schemas of some types and views, for messages. */
function schemaId(layouts: Readonly<Record<string, string>>, names: readonly string[]): string {
  const hash = createHash('sha256');
  for (const name of [...names].sort()) hash.update(`${name} ${layouts[name] ?? ''}\n`);
  return hash.digest('hex').slice(0, 8);
}

function isService(value: unknown): value is Service {
  if (typeof value !== 'object' || value === null) return false;
  const { instance, project, seen, layouts, settings } = value as Partial<Record<keyof Service, unknown>>;
  return (
    typeof instance === 'string' &&
    typeof project === 'string' &&
    typeof seen === 'number' &&
    areTexts(layouts) &&
    (settings === undefined || areTexts(settings))
  );
}

function areTexts(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((text) => typeof text === 'string')
  );
}
