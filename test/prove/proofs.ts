import { alerts } from './alerts.js';
import { bodies } from './bodies.js';
import { drafts } from './drafts.js';
import { experiments } from './experiments.js';
import { exploration } from './exploration.js';
import { counters } from './counters.js';
import { faults } from './faults.js';
import { objects } from './objects.js';
import { overload } from './overload.js';
import { firstSearch } from './first-search.js';
import { forget } from './forget.js';
import { gates } from './gates.js';
import { imports } from './imports.js';
import { ledger } from './ledger.js';
import { loop, loopLightGbm } from './loop.js';
import type { Proof } from './proof.js';
import { releases } from './releases.js';
import { replay } from './replay.js';
import { replicas } from './replicas.js';
import { retrieval } from './retrieval.js';
import { rollback } from './rollback.js';
import { rolling } from './rolling.js';
import { shadow } from './shadow.js';
import { shutdown } from './shutdown.js';
import { sinks } from './sinks.js';
import { soak } from './soak.js';
import { slowConnections } from './slow-connections.js';
import { sources } from './sources.js';
import { start } from './start.js';
import { upgrade } from './upgrade.js';
import { updates } from './updates.js';
import { uploads } from './uploads.js';
import { workers } from './workers.js';

/** All proofs, in the order of docs/reliability.md. */
export const PROOFS: readonly Proof[] = [
  overload,
  slowConnections,
  bodies,
  uploads,
  updates,
  shutdown,
  rolling,
  workers,
  faults,
  ledger,
  sinks,
  objects,
  rollback,
  upgrade,
  releases,
  replicas,
  soak,
  alerts,
  forget,
  counters,
  sources,
  imports,
  gates,
  experiments,
  exploration,
  shadow,
  loop,
  loopLightGbm,
  replay,
  retrieval,
  drafts,
  start,
  firstSearch,
];
