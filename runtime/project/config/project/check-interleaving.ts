import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { ExperimentDefinition } from '../model/experiments.js';

/** The name that answers and records have in place of an arm's. */
const RESERVED = 'interleaved';

/** Checks what only an interleaving cannot have. `checkDrawnArms` checks its pipelines when they are compiled. */
export function checkInterleaving(
  { arms, assign, metrics }: ExperimentDefinition,
  diagnostics: Diagnostics,
): void {
  if (assign !== undefined)
    diagnostics.error(
      'invalid_arm',
      assign.at,
      '`assign`: the pages of an interleaving have both arms, so nobody assigns one',
      'leave `assign` out, or write `mode: split`',
    );
  const [control, , ...more] = arms.values();
  for (const arm of more)
    diagnostics.error(
      'invalid_arm',
      arm.at,
      `\`${arm.name}\`: an interleaving has two arms`,
      'compare it in an experiment of its own, in the same layer',
    );
  for (const arm of arms.values()) {
    if (arm.name === RESERVED)
      diagnostics.error(
        'invalid_arm',
        arm.at,
        `\`${RESERVED}\` stands for both arms in answers, so it cannot be the name of one`,
        'choose another name',
      );
    if (control !== undefined && arm.weight !== control.weight)
      diagnostics.error(
        'invalid_arm',
        arm.at,
        `\`${arm.name}\`: both arms of an interleaving have the same weight`,
        'leave `weight` out; `share` says how many units take part',
      );
  }
  if (metrics === undefined) return;
  const { primary, secondary, guard } = metrics;
  if (primary.value.kind === 'sum' || primary.over !== undefined || primary.before !== undefined)
    diagnostics.error(
      'invalid_arm',
      primary.at,
      '`primary`: an interleaving counts which arm the events of a unit fall on, so it has no sum, `over` or `adjust`',
      `write \`primary: { event: ${primary.event} }\`, or \`mode: split\``,
    );
  const [other] = secondary;
  if (other !== undefined)
    diagnostics.error(
      'invalid_arm',
      other.at,
      '`secondary`: an interleaving has one metric, because it tells only the direction',
      'leave `secondary` out, or write `mode: split`',
    );
  const [first] = guard;
  if (first !== undefined)
    diagnostics.error(
      'invalid_arm',
      first.at,
      `\`${first.metric}\`: an interleaving has no guards, because every answer comes from both arms`,
      'leave `guard` out, or write `mode: split`',
    );
}
