import type { Proof } from './proof.js';
import { rollback } from './rollback.js';

/** All proofs, in the order of docs/reliability.md. */
export const PROOFS: readonly Proof[] = [rollback];
