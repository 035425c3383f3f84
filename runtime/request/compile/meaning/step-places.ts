import type { OptionPath } from '../../../project/config/project/check-options.js';
import type { CurationRule } from '../../../project/config/model/curation.js';
import type { Span } from '../../../project/config/yaml/source.js';

/** Where the options of a step are written, and the rules of the lists that it applies. */
export interface StepPlaces {
  readonly locate: (path: OptionPath) => Span;
  readonly rules: readonly CurationRule[];
}
