import { bodies } from './bodies.js';
import { uploads } from './uploads.js';
import type { Proof } from './proof.js';

/** All proofs, in the order of docs/reliability.md. */
export const PROOFS: readonly Proof[] = [bodies, uploads];
