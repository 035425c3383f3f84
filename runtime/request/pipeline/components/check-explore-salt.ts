import { MillraceError } from '../../../ground/api/errors.js';
import type { Plan } from '../../compile/plan.js';
import { exploringStep } from '../../compile/exploration.js';
import { nameOf, type Settings } from '../../../project/settings/settings.js';

/** @throws MillraceError invalid_setting if a pipeline draws places, and there is no salt */
export function checkExploreSalt(plans: readonly Plan[], settings: Settings): void {
  if (settings.exploreSalt !== '') return;
  for (const { definition, steps } of plans) {
    const found = exploringStep(steps);
    if (found === undefined) continue;
    throw new MillraceError(
      'invalid_setting',
      `step ${found.step.number} (${found.step.use}) of the pipeline ${definition.name} draws places, but ${nameOf('exploreSalt', settings)} is not set; set it to a secret text, e.g. the output of \`openssl rand -hex 16\``,
    );
  }
}
