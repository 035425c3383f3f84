import { join } from 'node:path';
import { packageFinder } from '../../runtime/ground/core/find-package.js';
import { repositoryPath } from './repository.js';

/**
 * Finds the optional package onnxruntime-node: in the folder of MILLRACE_ONNXRUNTIME (where `npm install
 * onnxruntime-node` ran), or beside Millrace. Returns undefined if it is in neither place.
 */
export function findOnnxRuntime(): string | undefined {
  const folder = process.env['MILLRACE_ONNXRUNTIME'];
  return packageFinder(folder ?? repositoryPath())('onnxruntime-node');
}

/** Finds packages like the runtime, and onnxruntime-node as above. */
export function findTestPackage(name: string): string | undefined {
  return name === 'onnxruntime-node' ? findOnnxRuntime() : packageFinder(repositoryPath())(name);
}

/** Returns the package's folder, for a link from a project's node_modules. */
export function onnxRuntimeFolder(main: string): string {
  return join(main, '..', '..');
}
