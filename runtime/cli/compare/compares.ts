import type { LoadComparer } from '../../serve/compare/comparisons.js';

/** For commands whose process compares: its code is loaded with the first comparison. */
export const compares: LoadComparer = () => import('./run-comparison.js');
