import { faults } from './faults.js';
import type { Proof } from './proof.js';

/** All proofs, in the order of docs/reliability.md. */
export const PROOFS: readonly Proof[] = [faults];
