/** What a plugin may import: `millrace/api`. */
export * from './columns.js';
export * from './errors.js';
export * from './identifiers.js';
export * from './plugin.js';
export * from './status.js';
export * from './types.js';
