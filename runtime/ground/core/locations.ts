import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The compiled code: `dist` of this package. It contains `runtime`, `plugins`, `schemas` and `assets`. */
export const COMPILED = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

/** The folder of this package. It is also the default project. */
export const PACKAGE = dirname(COMPILED);

/** The folder of the built-in plugins. */
export const SHIPPED_PLUGINS = join(COMPILED, 'plugins');
