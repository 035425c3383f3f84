import type { Surface } from './mistake.js';
import { COMMANDS } from './table/commands.js';
import { COUNTERS } from './table/counters.js';
import { CURATION } from './table/curation.js';
import { EXPRESSIONS } from './table/expressions.js';
import { FEATURES } from './table/features.js';
import { MEANING } from './table/meaning.js';
import { PIPELINES } from './table/pipelines.js';
import { PROJECT_FILE } from './table/project-file.js';
import { RULES } from './table/rules.js';
import { REQUESTS } from './table/requests.js';
import { SOURCES } from './table/sources.js';
import { ENTITIES, LOG_AND_PARAMS, SINKS, VIEWS } from './table/schemas.js';
import { TEXT } from './table/text.js';

/** Mistakes on every surface. docs/reference/mistakes.md shows the message of each. */
export const SURFACES: readonly Surface[] = [
  PROJECT_FILE,
  PIPELINES,
  EXPRESSIONS,
  FEATURES,
  TEXT,
  MEANING,
  RULES,
  ENTITIES,
  VIEWS,
  COUNTERS,
  SOURCES,
  SINKS,
  LOG_AND_PARAMS,
  CURATION,
  REQUESTS,
  COMMANDS,
];
