import { existsSync } from 'node:fs';
import { isObjectPath } from '../../ground/core/stored-files.js';
import type { Settings } from '../../project/settings/settings.js';
import type { ComparedProject, Comparisons } from '../compare/comparisons.js';
import type { Workshop } from '../compare/workshop.js';
import type { ComparisonService, WorkshopService } from '../http/services.js';

/** Comparisons and looks at single rankings, of one project. @param projectOf may reject, with what the request is refused */
export function comparingOf(
  comparisons: Comparisons,
  workshop: Workshop,
  { ledgerDir }: Pick<Settings, 'ledgerDir'>,
  projectOf: () => ComparedProject | Promise<ComparedProject>,
): { readonly comparisons: ComparisonService; readonly workshop: WorkshopService } {
  return {
    comparisons: {
      list: async (who) => await comparisons.list(await projectOf(), who),
      start: async (body, who) => await comparisons.start(await projectOf(), body, who),
      get: (body, who) => comparisons.get(body, who),
      stop: (body, who) => comparisons.stop(body, who),
    },
    workshop: {
      hasLedger: () => isObjectPath(ledgerDir) || existsSync(ledgerDir),
      logged: async (body, who) => await workshop.logged(await projectOf(), body, who),
      keep: async (body, who) => await workshop.keep(await projectOf(), body, who),
    },
  };
}
