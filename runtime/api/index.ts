/** What a plugin may import: `millrace/api`. */
export * from './columns.js';
export * from './distribution.js';
export * from './duration.js';
export * from './errors.js';
export * from './http-client.js';
export * from './identifiers.js';
export * from './interactions.js';
export * from './model-inputs.js';
export * from './plugin.js';
export * from './status.js';
export * from './tensor.js';
export * from './tensor-inputs.js';
export * from './tensor-outputs.js';
export * from './tree-ensemble.js';
export * from './tree-model.js';
export * from './turns.js';
export * from './types.js';
