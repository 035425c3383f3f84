import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE } from '../core/locations.js';

/** Millrace's own version, from package.json. */
export const version: string = (
  JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { version: string }
).version;
