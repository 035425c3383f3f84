import { MillraceError } from '../api/errors.js';
import type { Plan } from '../compile/plan.js';
import type { ProjectConfig } from '../config/model.js';
import { nearest } from '../config/nearest.js';
import { OWN_WRITES_ONLY, type Coherence } from '../resident/coherence.js';
import { ResidentTables } from '../resident/resident-tables.js';
import { SETTINGS, type Settings } from '../settings.js';
import type { RedisStore } from '../store/redis/redis-store.js';
import { RedisTracking } from '../store/redis/tracking.js';
import type { Store } from '../store/store.js';

/**
 * The entities that this process keeps decoded: those that the settings name, of those that a plan reads.
 * @throws MillraceError invalid_setting for the name of no entity type
 */
export function createResidentTables(
  plans: readonly Plan[],
  settings: Settings,
  config: ProjectConfig,
  store: Store,
): ResidentTables {
  const { resident, residentBytes: bytes, residentLeaseMs: leaseMs } = settings;
  if (resident !== 'all') for (const name of resident) checkType(name, config);
  return new ResidentTables(plans, {
    bytes,
    ...(resident === 'all' ? {} : { types: resident }),
    coherence: (prefixes): Coherence =>
      isRedis(store) ? new RedisTracking(store.masters, { prefixes, leaseMs }) : OWN_WRITES_ONLY,
  });
}

function checkType(name: string, { entities }: ProjectConfig): void {
  if (entities.has(name)) return;
  const guess = nearest(name, entities.keys());
  const help =
    guess === undefined ? `there are ${[...entities.keys()].join(', ')}` : `did you mean ${guess}?`;
  throw new MillraceError(
    'invalid_setting',
    `${SETTINGS.resident.env}: no entity type is called ${JSON.stringify(name)}; ${help}`,
  );
}

function isRedis(store: Store): store is RedisStore {
  return store.engine === 'redis';
}
