import { join } from 'node:path';
import { packageFinder } from '../../runtime/compile/find-package.js';
import { repositoryPath } from './repository.js';

/**
 * Where onnxruntime-node is, which Millrace can do without: in the folder that MILLRACE_ONNXRUNTIME names (one where
 * `npm install onnxruntime-node` ran), or beside Millrace. Undefined if it is in neither.
 */
export function findOnnxRuntime(): string | undefined {
  const folder = process.env['MILLRACE_ONNXRUNTIME'];
  return packageFinder(folder ?? repositoryPath())('onnxruntime-node');
}

/** The title of tests that need onnxruntime-node; it says why they are skipped where they are. */
export function withOnnxRuntime(title: string): string {
  return findOnnxRuntime() === undefined ? `${title} (onnxruntime-node is not installed)` : title;
}

/** Finds packages as the runtime does, and onnxruntime-node as above. */
export function findTestPackage(name: string): string | undefined {
  return name === 'onnxruntime-node' ? findOnnxRuntime() : packageFinder(repositoryPath())(name);
}

/** The package's folder, for a link from a project's node_modules. */
export function onnxRuntimeFolder(main: string): string {
  return join(main, '..', '..');
}
