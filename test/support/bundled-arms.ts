import { pathToFileURL } from 'node:url';
import { repositoryPath } from './repository.js';

const COMPILED = pathToFileURL(repositoryPath('dist/runtime/cli/shadow/arm-process.js')).href;
const BUNDLED = pathToFileURL(repositoryPath('dist/bundle/runtime.cli.shadow.arm-process.js')).href;
const HOOK = `export const resolve = async (name, context, next) => {
  const found = await next(name, context);
  return found.url === '${COMPILED}' ? { ...found, url: '${BUNDLED}' } : found;
}`;
const dataUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
const REGISTER = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(HOOK))});`;

/**
 * Variables for a command in this process, whose code is compiled: the arms that it starts run the bundle, as those of users
 * do. That takes half the CPU.
 */
export const BUNDLED_ARMS: Readonly<Record<string, string>> =
  process.env.TEST_COMPILED === undefined ? { NODE_OPTIONS: `--import=${dataUrl(REGISTER)}` } : {};
