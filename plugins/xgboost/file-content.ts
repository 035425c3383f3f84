import { ModelFileError } from 'millrace/api';
import type { Json } from './json.js';
import { readUbjson } from './read-ubjson.js';

/** A saved model is an object; a dump is a list of trees. */
export type FileContent =
  | { readonly isDump: false; readonly object: Json }
  | { readonly isDump: true; readonly list: readonly unknown[] };

/**
 * Reads a model file as JSON or UBJSON.
 * @throws ModelFileError
 */
export function readFile(content: Buffer): FileContent {
  const head = content.toString('latin1', 0, 64);
  // An object of UBJSON also begins with {. The length of a key follows, never white space or a quote.
  const isJson = /^\s*(\{\s*["}]|\[)/.test(head);
  if (!isJson && content[0] !== 0x7b) throw new ModelFileError('it is neither JSON nor UBJSON');
  const read = isJson ? parseJson(content.toString('utf8')) : readUbjson(content);
  if (Array.isArray(read)) return { isDump: true, list: read };
  if (typeof read !== 'object' || read === null) throw new ModelFileError('it is not an object');
  return { isDump: false, object: read as Json };
}

/** Words that are not JSON, and valid JSON with the same meaning here. */
const BEYOND_JSON: ReadonlyMap<string, string> = new Map([
  ['NaN', 'null'],
  ['Infinity', '1e999'],
]);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // XGBoost writes NaN in training statistics, and Infinity as a threshold too. Quoted texts stay as they are.
    const plain = text.replace(/"(?:[^"\\]|\\.)*"|NaN|Infinity/g, (found) =>
      found.startsWith('"') ? found : (BEYOND_JSON.get(found) ?? found),
    );
    if (plain !== text) return JSON.parse(plain);
    throw new ModelFileError(`it is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
