import { readFileSync } from 'node:fs';

/** Millrace's own version, from package.json two folders above the compiled file. */
export const version: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
