import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The compiled code: `dist` of this package, which holds `runtime`, `plugins`, `schemas` and `assets`. */
export const COMPILED = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The folder of this package. It is a project too: the one that ships. */
export const PACKAGE = dirname(COMPILED);

/** The plugins that ship. */
export const SHIPPED_PLUGINS = join(COMPILED, 'plugins');
