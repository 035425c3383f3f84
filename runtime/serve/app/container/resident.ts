import type { DependencyContainer } from 'tsyringe';
import { MillraceError } from '../../../ground/api/errors.js';
import type { Plan } from '../../../request/compile/plan.js';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import { AS_WORD, didYouMean } from '../../../ground/core/nearest.js';
import { ResidentTables } from '../../../request/resident/resident-tables.js';
import { nameOf, type Settings } from '../../../project/settings/settings.js';
import type { Lease } from './shared.js';
import { TOKENS } from './tokens.js';

/**
 * Leases the tables of entities that this process keeps decoded: the types that the settings name and a plan reads. The
 * tables of an earlier generation are reused with their content if they hold what these plans read.
 * @throws MillraceError invalid_setting for an unknown entity type
 */
export async function leaseResidentTables(
  container: DependencyContainer,
  plans: readonly Plan[],
  settings: Settings,
  config: ProjectConfig,
): Promise<Lease<ResidentTables>> {
  const { resident, residentBytes: bytes, counterLeaseMs, workers } = settings;
  checkEntityTypes(settings, config);
  return container.resolve(TOKENS.residentTables).lease(
    (tables) => tables.adopt(plans),
    () => {
      const tables = new ResidentTables(plans, {
        bytes,
        // An event that another worker acknowledged must be visible at once.
        counterLease: workers > 1 ? 0 : counterLeaseMs,
        ...(resident === 'all' ? {} : { types: resident }),
        coherence: container.resolve(TOKENS.coherence),
      });
      tables.start();
      return tables;
    },
  );
}

/** @throws MillraceError invalid_setting if the settings name an unknown entity type */
export function checkEntityTypes(settings: Settings, config: ProjectConfig): void {
  const { resident, hashIds } = settings;
  if (resident !== 'all') for (const name of resident) checkType('resident', name, settings, config);
  for (const name of hashIds) checkType('hashIds', name, settings, config);
}

function checkType(
  setting: 'resident' | 'hashIds',
  name: string,
  settings: Settings,
  { entities }: ProjectConfig,
): void {
  if (entities.has(name)) return;
  const help = didYouMean(name, entities.keys(), AS_WORD) ?? `there are ${[...entities.keys()].join(', ')}`;
  throw new MillraceError(
    'invalid_setting',
    `${nameOf(setting, settings)}: no entity type is called ${JSON.stringify(name)}; ${help}`,
  );
}
