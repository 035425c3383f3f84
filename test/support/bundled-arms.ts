import { repositoryPath } from './repository.js';

const PRELOAD = repositoryPath('scripts/bundled-arm.cjs');

/**
 * Variables for a command in this process, whose code is compiled: the arms that it starts run the bundle, as those of users
 * do. That takes half the CPU.
 */
export const BUNDLED_ARMS: Readonly<Record<string, string>> =
  process.env.TEST_COMPILED === undefined ? { NODE_OPTIONS: `--require=${JSON.stringify(PRELOAD)}` } : {};
