/// <reference types="node" preserve="true" />
/** The module `millrace/testing`: what the tests of a plugin need. It works with any test runner. */
export type { ConformanceTest } from './conformance-test.js';
export { createStep, type StepSetup } from './create-step.js';
export * from './fake-http.js';
export * from './fake-ranking.js';
export * from './fake-services.js';
export * from './fake-step.js';
export * from './model-tests.js';
export * from './reader-tests.js';
export * from './sink-tests.js';
export * from './source-tests.js';
export * from './step-tests.js';
export * from './store-tests.js';
