import { existsSync } from 'node:fs';
import { pino } from 'pino';
import { MillraceError } from '../../../ground/api/errors.js';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import { ServiceSchemas } from '../../../state/index/service-schemas.js';
import { checkStoredFit } from '../../../state/index/stored-fit.js';
import type { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import type { ComparedId } from '../../../request/compile/meaning/compared-ids.js';
import type { CompiledProject } from '../project/compile-project.js';
import type { Settings } from '../../../project/settings/settings.js';
import { sharedSettings } from '../../../project/settings/shared-settings.js';
import { traitsOf } from '../../../project/settings/store-engines.js';
import { LayoutRegistry } from '../../../state/store/layout-registry.js';
import { StoreMonitor } from '../../../state/store/store-monitor.js';
import type { Store } from '../../../state/store/store.js';
import { openEngine } from '../container/store-engines.js';
import type { Answer } from './connection.js';
import { curatedIdsOf, type CuratedIds, unknownCuratedIds } from './curated-ids.js';
import { warnOfUnknownIds } from './unknown-ids.js';

interface StoreProbe {
  readonly server: string;
  readonly ask: () => Promise<Answer>;
}

/** What a project expects of the store. */
export interface StoreNeeds {
  readonly config: ProjectConfig;
  /** Ids of rules that the store should hold. */
  readonly curated: readonly CuratedIds[];
  /** Ids in expressions that the store should hold. */
  readonly compared: readonly ComparedId[];
  /** Gets warnings with a place in the files. */
  readonly diagnostics: Diagnostics;
}

/** @returns undefined for a project with errors */
export function storeNeeds(compiled: CompiledProject, diagnostics: Diagnostics): StoreNeeds | undefined {
  const { config, pipelines } = compiled;
  if (config === undefined) return undefined;
  const compared = pipelines.flatMap(({ plan }) => plan.comparedIds);
  return { config, curated: curatedIdsOf(compiled), compared, diagnostics };
}

/**
 * How to ask the store of the settings whether this project can use it.
 * @param timeoutMs how long the store may take
 */
export function askStore(settings: Settings, needs: StoreNeeds, timeoutMs: number): StoreProbe {
  // Connecting ends first, so that the answer says why there is no connection.
  const openWithin = Math.ceil(timeoutMs / 2);
  const { called, isFolder, isRedis } = traitsOf(settings.store);
  if (isFolder) return { server: settings.dataDir, ask: () => askFolder(settings, needs, openWithin) };
  const server = isRedis ? redisAddress(settings) : called;
  return { server, ask: () => askEngine(settings, needs, openWithin) };
}

function redisAddress({ redisUrl, redisCluster, redisSentinels }: Settings): string {
  const list = [redisCluster, redisSentinels].find((some) => some.length > 0);
  return list === undefined ? hostOf(redisUrl) : list.map(({ host, port }) => `${host}:${port}`).join(', ');
}

/** An address without user and password. */
function hostOf(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

/** A folder that does not exist is not created. One that a service uses is fine. */
async function askFolder(settings: Settings, needs: StoreNeeds, openWithin: number): Promise<Answer> {
  if (!existsSync(settings.dataDir)) return { state: 'ok', detail: 'the folder is made at the first start' };
  try {
    return await askEngine(settings, needs, openWithin);
  } catch (error) {
    if (error instanceof MillraceError && error.code === 'data_folder_in_use')
      return { state: 'ok', detail: 'a running service uses the folder' };
    throw error;
  }
}

async function askEngine(settings: Settings, needs: StoreNeeds, openWithin: number): Promise<Answer> {
  const logger = pino({ level: 'silent' });
  const monitor = new StoreMonitor(logger);
  const engine = await openEngine(settings, logger, monitor, openWithin);
  const { store } = engine;
  try {
    await store.ping();
    const version = await engine.version();
    const sampled = await lookInto(store, settings, needs, monitor);
    const found = `${version}; ${sampled === 0 ? 'no entities of this project yet' : 'the stored entities fit'}`;
    const [first, ...others] = monitor.warnings();
    if (first === undefined) {
      const unknown = await unknownCuratedIds(store, settings.prefix, needs.curated);
      if (unknown === undefined) return { state: 'ok', detail: found };
      const help = 'load these entities, or correct the ids of the rules';
      return { state: 'warning', detail: `${version}; ${unknown}`, help };
    }
    const more = others.length === 0 ? '' : `; ${others.length} more`;
    return { state: 'warning', detail: `${version}; ${first.detail}${more}`, help: REMEDIES[first.code] };
  } finally {
    await store.close();
  }
}

const REMEDIES = {
  store_evicts: 'set maxmemory-policy noeviction in Redis',
  schemas_differ: 'give each project its own prefix, in millrace.yaml or MILLRACE_PREFIX',
  settings_differ: 'give all instances the same values, or each service a MILLRACE_PREFIX of its own',
  values_misfit: 'load the entities again, or undo the change of the schema',
  store_emptied: 'load the data again, or restore a backup',
} as const;

/** Compares what is stored with the schemas of the project. @returns how many entities were looked at */
async function lookInto(
  store: Store,
  settings: Settings,
  { config, compared, diagnostics }: StoreNeeds,
  monitor: StoreMonitor,
): Promise<number> {
  const { prefix, project } = settings;
  const layouts = new LayoutRegistry(store, prefix);
  const parts = { store, layouts, prefix, monitor };
  const own = { instance: '', project, settings: sharedSettings(settings) };
  await new ServiceSchemas({ ...parts, ...own }).look(config);
  await checkStoredFit(config.entities, parts);
  await warnOfUnknownIds(compared, config.entities, parts, diagnostics);
  return [...monitor.samples.values()].reduce((total, { records }) => total + records, 0);
}
