/**
 * Reading Feast's layout (a hash for each entity, a field for each feature) through our reader, against our own layout
 * for the same numbers, on one Redis: `node dist/bench/feast.js [--url redis://127.0.0.1:6379]`. The rows stand under a
 * prefix and a project of their own, and are removed afterwards.
 */
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import type { FeatureView } from '../runtime/config/model.js';
