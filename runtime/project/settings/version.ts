import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE } from '../../ground/core/locations.js';

/** The version of Millrace, from package.json. */
export const version: string = (
  JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { version: string }
).version;
