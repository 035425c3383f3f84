import type { Proof } from './proof.js';
import { rolling } from './rolling.js';
import { shutdown } from './shutdown.js';
import { workers } from './workers.js';

/** All proofs, in the order of docs/reliability.md. */
export const PROOFS: readonly Proof[] = [shutdown, rolling, workers];
