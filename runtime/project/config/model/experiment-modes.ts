import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { checkInterleaving } from '../project/check-interleaving.js';
import type { ExperimentDefinition, ExperimentMode } from './experiments.js';

/** What a mode means. Code asks for these and compares no names. */
export interface ModeTraits {
  /** Whether units of live requests get arms. Otherwise `millrace shadow` runs the arms on logged requests. */
  readonly isLive: boolean;
  /** Whether the pages of a unit have candidates of both arms. Otherwise a unit gets one arm. */
  readonly isMixed: boolean;
  /** Checks what only this mode cannot have. */
  readonly check?: (experiment: ExperimentDefinition, diagnostics: Diagnostics) => void;
}

export const EXPERIMENT_MODES: Readonly<Record<ExperimentMode, ModeTraits>> = {
  split: { isLive: true, isMixed: false },
  interleave: { isLive: true, isMixed: true, check: checkInterleaving },
  shadow: { isLive: false, isMixed: false },
};

export function isLive({ mode }: { readonly mode: ExperimentMode }): boolean {
  return EXPERIMENT_MODES[mode].isLive;
}

export function isMixed({ mode }: { readonly mode: ExperimentMode }): boolean {
  return EXPERIMENT_MODES[mode].isMixed;
}
