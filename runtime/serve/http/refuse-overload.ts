import { headError } from '../access/head-error.js';
import { refusalWith } from './refuse-by-head.js';

/** Answers a request with `overloaded`, from its head alone. */
export const overloaded = refusalWith(
  headError('overloaded', 'more requests arrive than the service can answer in time'),
);
