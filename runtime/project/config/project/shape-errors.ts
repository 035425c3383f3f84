import type { ErrorObject } from 'ajv/dist/2020.js';
import { nearest } from '../../../ground/core/nearest.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { guessOf, missingKey, oneKeyOf, pointerTo, unknownKey, unwanted } from './key-errors.js';
import type { Places } from './materialise.js';
import type { ParamOptions } from './param-options.js';
import { pruneErrors } from './prune-errors.js';
import { Place, wrong, type Params, type Told } from './shape-place.js';
import { oneOfWords } from './shape-words.js';
import { boundWords, languageIn, wrongKind, wrongPattern } from './value-errors.js';
import { textOf } from '../yaml/tree.js';

/** Converts ajv's errors (all errors, verbose) to diagnostics at the right places. */
export function reportShapeErrors(
  errors: readonly ErrorObject[],
  places: Places,
  diagnostics: Diagnostics,
  params?: ParamOptions,
): void {
  const pruned = pruneErrors(errors);
  const mistyped = new Set(pruned.map((error) => guessOf(error)));
  for (const error of pruned) {
    // A misspelt key is reported once: not as unknown and as missing.
    const { missingProperty } = error.params as Params;
    if (error.keyword === 'required' && mistyped.has(pointerTo(error, missingProperty ?? ''))) continue;
    const { code, at, message, help } = tell(error, new Place(error, places, params));
    diagnostics.error(code, at, message, help);
  }
}

function tell(error: ErrorObject, place: Place): Told {
  const params = error.params as Params;
  switch (error.keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return unknownKey(params.additionalProperty ?? params.unevaluatedProperty ?? '', place);
    case 'required':
    case 'dependentRequired':
      return missingKey(params.missingProperty ?? '', place);
    case 'pattern':
      return wrongPattern(error, place);
    case 'enum': {
      const values = params.allowedValues ?? [];
      const text = textOf(place.node) ?? '';
      const guess = nearest(text, values.map(String)) ?? languageIn(text, values.map(String));
      return wrong(
        place,
        `expected ${oneOfWords(values)}, found ${place.found}`,
        guess && `did you mean \`${guess}\`?`,
      );
    }
    case 'not':
      return unwanted(place);
    case 'anyOf':
      return oneKeyOf(place) ?? wrongKind(error, place);
    case 'type':
    case 'const':
    case 'millrace':
    case 'oneOf':
      return wrongKind(error, place);
    default:
      return wrong(place, boundWords(error.keyword, params, place) ?? error.message ?? 'is invalid');
  }
}
