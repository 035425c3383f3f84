/** What a plugin may import: `millrace/api`. */
export * from './columns.js';
export * from './errors.js';
export * from './identifiers.js';
export * from './model-inputs.js';
export * from './plugin.js';
export * from './status.js';
export * from './tree-ensemble.js';
export * from './tree-model.js';
export * from './types.js';
