import 'reflect-metadata'; // tsyringe requires this import before any of its own modules is loaded
import { setTimeout as pause } from 'node:timers/promises';
import { container as rootContainer } from 'tsyringe';
import { OptionError } from '../../../ground/api/option-error.js';
import type { PluginLogger } from '../../../ground/api/services.js';
import type { ServiceContext, ServicePlugin } from '../../../ground/api/shared-service.js';
import { sharedServiceToken } from '../../../ground/api/tokens.js';
import { didYouMean } from '../../../ground/core/nearest.js';
import type { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import type { SharedServiceOptions } from '../../../project/config/model/project.js';
import type { Span } from '../../../project/config/yaml/source.js';
import { CLOSE_MS, WARM_MS, within } from '../../../request/compile/component-life.js';
import { createOutside } from '../../../request/compile/create-outside.js';
import type { OptionFiles } from '../../../request/compile/option-files.js';
import type { StoreState } from '../../../state/store/store-check.js';
import { Shared, type Lease } from '../container/shared.js';

const HEALTH_MS = 1_000;

/** A service of a package of the project. */
export interface DeclaredService {
  readonly name: string;
  readonly plugin: ServicePlugin & { readonly needs: readonly string[] };
  readonly package: string;
  /** The version of the code of the package. */
  readonly code: string;
  /** The package in millrace.yaml. */
  readonly at: Span;
}

/** A service that was created. */
interface RunningService {
  readonly key: string;
  readonly plugin: ServicePlugin;
  readonly value: unknown;
}

/** The services of all loaded projects of a process. */
export type RunningServices = Shared<RunningService>;

export function runningServices(): RunningServices {
  return new Shared<RunningService>(({ plugin, value }) =>
    within(CLOSE_MS, async () => plugin.close?.(value as never)),
  );
}

/** What services are made with. */
interface StartParts {
  readonly options: ReadonlyMap<string, SharedServiceOptions>;
  readonly files: OptionFiles;
  /** The context of a service, but for the services that it needs. */
  readonly contextOf: (name: string) => Omit<ServiceContext, 'service'>;
  readonly diagnostics: Diagnostics;
}

/** A service whose `create` takes longer than it may. */
interface LateService {
  /** The names of all services that it may use while it is created and closed. */
  readonly needs: ReadonlySet<string>;
  /** Resolves when it is closed, or can no longer be created. */
  readonly ended: Promise<void>;
  readonly logger: PluginLogger;
}

type NamedLease = { readonly name: string; readonly lease: Lease<RunningService> };

/** The services of one loaded project, by name. They are in a container that only its plugins ask. */
export class SharedServices {
  readonly #container = rootContainer.createChildContainer();
  readonly #running: RunningServices;
  readonly #limitMs: number;
  readonly #leases: NamedLease[] = [];
  readonly #late = new Set<LateService>();

  /** @param limitMs how long `create` may take, in milliseconds */
  constructor(running: RunningServices = runningServices(), limitMs = WARM_MS) {
    this.#running = running;
    this.#limitMs = limitMs;
  }

  /** Creates the services in the order of the packages, or leases those of an earlier load. Failures are reported. */
  async start(declared: readonly DeclaredService[], parts: StartParts): Promise<void> {
    const { options, diagnostics } = parts;
    const names = declared.map(({ name }) => name);
    for (const [name, { at }] of options)
      if (!names.includes(name))
        diagnostics.error(
          'unknown_name',
          at,
          `no package of the project has a service \`${name}\``,
          didYouMean(name, names) ??
            (names.length === 0 ? 'remove it' : `the services are ${names.join(', ')}`),
        );
    for (const one of declared) await this.#startOne(one, parts);
  }

  async #startOne(declared: DeclaredService, parts: StartParts): Promise<void> {
    const { name, plugin, package: from, at } = declared;
    const { options, files, diagnostics, contextOf } = parts;
    const missing = plugin.needs.find((needed) => !this.#has(needed));
    if (missing !== undefined) {
      const message = `\`${from}\`: its service \`${name}\` needs the service \`${missing}\`, which is not there`;
      const help = 'list the package with that service before this one, and repair what is wrong with it';
      diagnostics.error('component_failed', at, message, help);
      return;
    }
    const given = options.get(name);
    const use = { value: name, at: given?.at ?? at };
    const written = { name, use, with: given?.with, file: given?.file ?? at.file };
    const checked = await createOutside(
      written,
      {
        what: 'service',
        options: plugin.options ?? {},
        create: (bound: unknown) => bound,
        methods: [],
      },
      files,
      diagnostics,
    );
    if (checked === undefined) return;
    const needed = plugin.needs.map((one) => this.#leases.find((held) => held.name === one)?.lease.value.key);
    const key = JSON.stringify([from, declared.code, name, checked.key, needed]);
    const context: ServiceContext = {
      ...contextOf(name),
      service: (wanted) => {
        if (plugin.needs.includes(wanted)) return this.get(wanted) as never;
        throw new Error(`it asks for the service \`${wanted}\` and does not name it under \`needs\``);
      },
    };
    const make = async (): Promise<RunningService> => {
      const making = new Promise<unknown>((resolve) =>
        resolve(plugin.create(checked.made as never, context)),
      );
      const value = await within(this.#limitMs, () => making).catch((error: unknown) => {
        this.#follow(plugin, making, context.logger);
        throw error;
      });
      return { key, plugin, value };
    };
    try {
      const lease = await this.#running.lease((running) => running.key === key, make);
      this.#leases.push({ name, lease });
      this.#container.register(sharedServiceToken(name), { useFactory: () => lease.value.value });
    } catch (error) {
      const help = error instanceof OptionError ? error.help : undefined;
      const message = `\`${from}\`: its service \`${name}\` could not start: ${reasonOf(error)}`;
      diagnostics.error('component_failed', use.at, message, help ?? `check \`services: { ${name}: … }\``);
    }
  }

  /** Closes a service as soon as it is created, since nothing can use it. Until then, what it needs stays open. */
  #follow(plugin: DeclaredService['plugin'], making: Promise<unknown>, logger: PluginLogger): void {
    const close = (value: unknown): Promise<void> =>
      within(CLOSE_MS, async () => plugin.close?.(value as never)).catch((fault: unknown) =>
        logger.warn('a service that was created too late could not be closed', { error: reasonOf(fault) }),
      );
    const ended = making.then(close, () => undefined).then(() => void this.#late.delete(late));
    const late: LateService = { needs: this.#allNeeds(plugin.needs), ended, logger };
    this.#late.add(late);
  }

  /** The services, and those that they need in turn. */
  #allNeeds(names: readonly string[]): ReadonlySet<string> {
    const all = new Set(names);
    for (const name of all)
      for (const needed of this.#leases.find((one) => one.name === name)?.lease.value.plugin.needs ?? [])
        all.add(needed);
    return all;
  }

  /** Whether all of them started. */
  hasAll(declared: readonly DeclaredService[]): boolean {
    return declared.every(({ name }) => this.#has(name));
  }

  #has(name: string): boolean {
    return this.#leases.some((one) => one.name === name);
  }

  /** @throws Error that names the services */
  get(name: string): unknown {
    if (this.#has(name)) return this.#container.resolve(sharedServiceToken(name));
    const names = this.#leases.map((one) => one.name);
    const help =
      didYouMean(name, names) ??
      (names.length === 0 ? 'no package of the project has one' : `there are ${names.join(', ')}`);
    throw new Error(`there is no service \`${name}\`: ${help}`);
  }

  /** The state of each service that declares `health`. */
  async health(): Promise<Record<string, StoreState>> {
    const asked = this.#leases.flatMap(({ name, lease }) =>
      lease.value.plugin.health === undefined ? [] : [{ name, lease }],
    );
    const states = await Promise.all(
      asked.map(async ({ name, lease: { value } }) => [`service ${name}`, await stateOf(value)] as const),
    );
    return Object.fromEntries(states);
  }

  /**
   * Ends the use of all, the last first. A service that nothing else uses is closed. Those that a late one needs are closed
   * after it, or after as long as `create` may take; this function does not wait for that.
   * @returns the errors
   */
  async release(): Promise<unknown[]> {
    const late = [...this.#late];
    const leases = this.#leases.splice(0).reverse();
    const isHeld = ({ name }: NamedLease): boolean => late.some(({ needs }) => needs.has(name));
    const held = leases.filter(isHeld);
    if (held.length > 0)
      void Promise.race([
        Promise.all(late.map(({ ended }) => ended)),
        pause(this.#limitMs, undefined, { ref: false }),
      ]).then(async () => {
        for (const fault of await releaseAll(held))
          late[0]?.logger.warn('a service could not be closed', { error: reasonOf(fault) });
      });
    return releaseAll(leases.filter((one) => !isHeld(one)));
  }
}

/** Releases in this order. @returns the errors */
async function releaseAll(leases: readonly NamedLease[]): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (const { lease } of leases) await lease.release().catch((error: unknown) => errors.push(error));
  return errors;
}

async function stateOf({ plugin, value }: RunningService): Promise<StoreState> {
  try {
    const signal = AbortSignal.timeout(HEALTH_MS);
    await within(HEALTH_MS, async () => plugin.health?.(value as never, signal));
    return { status: 'OK' };
  } catch (error) {
    return { status: 'FAILED', reason: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
