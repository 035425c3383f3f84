import { CHOICE_FUNCTIONS } from './choice.js';
import type { FunctionEntry } from './function-entry.js';
import { LIST_FUNCTIONS } from './lists.js';
import { MATCHING_FUNCTIONS } from './matching.js';
import { MATH_FUNCTIONS } from './math.js';
import { TEXT_FUNCTIONS } from './text.js';
import { TIME_FUNCTIONS } from './time.js';
import { TIME_PART_FUNCTIONS } from './time-parts.js';
import { CATEGORY_FUNCTIONS } from './category.js';
import { POSITION } from './position.js';
import { REQUEST_FUNCTIONS } from './request.js';

/** All functions by name, in the order of the docs. */
export const FUNCTIONS: ReadonlyMap<string, FunctionEntry> = new Map(
  [CHOICE_FUNCTIONS, MATH_FUNCTIONS, LIST_FUNCTIONS, TEXT_FUNCTIONS, MATCHING_FUNCTIONS]
    .concat([TIME_FUNCTIONS, TIME_PART_FUNCTIONS, CATEGORY_FUNCTIONS, REQUEST_FUNCTIONS, [POSITION]])
    .flat()
    .map((entry) => [entry.name, entry]),
);
