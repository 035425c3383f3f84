import { MillraceError } from '../../ground/api/errors.js';
import { refusalWith } from './refuse-by-head.js';

/** Answers a request with `overloaded`, from its head alone. */
export const overloaded = refusalWith(
  new MillraceError('overloaded', 'more requests arrive than the service can answer in time'),
);
