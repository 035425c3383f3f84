import { overload } from './overload.js';
import type { Proof } from './proof.js';
import { slowConnections } from './slow-connections.js';

/** All proofs, in the order of docs/reliability.md. */
export const PROOFS: readonly Proof[] = [overload, slowConnections];
