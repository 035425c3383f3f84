import { OptionError, otherFile, type ProjectFile } from 'millrace/api';
import type { Missing, WeightsEntry } from './options.generated.js';

export interface ModelFile {
  readonly bias: number;
  readonly missing: Missing;
  /** Weights by the name of a feature, attribute or definition. */
  readonly weights: ReadonlyMap<string, WeightsEntry>;
}

export const MODEL_OPTIONS = ['weights', 'bias', 'missing'] as const;
const KEYS: readonly string[] = [...MODEL_OPTIONS].sort();

/**
 * Reads `{ "bias": number, "missing": "absent" | number, "weights": { name: weight } }`. A weight is a number or `{
 * "weight": number, "missing": "absent" | number }`. By default bias is 0 and missing is "absent".
 * @throws OptionError at `path`
 */
export function readModelFile(file: ProjectFile, path: readonly (string | number)[]): ModelFile {
  const wrong = (what: string, help?: string): OptionError =>
    new OptionError(
      path,
      `\`${file.path}\` ${what}`,
      help ?? 'a model is { "bias": 0.5, "weights": { "product.rating": 0.2 } }',
    );
  let content: unknown;
  try {
    content = JSON.parse(file.content.toString('utf8'));
  } catch (error) {
    const other = otherFile(file);
    if (other !== undefined) throw wrong(`is ${other.what}`, other.help);
    throw wrong(`is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isRecord(content)) throw wrong('is not a JSON object');
  for (const key of Object.keys(content)) {
    if (!KEYS.includes(key)) throw wrong(`has the key \`${key}\`; expected ${KEYS.join(', ')}`);
  }
  const { bias = 0, missing = 'absent', weights } = content;
  if (!isNumber(bias)) throw wrong('has a bias that is not a number');
  if (!isMissing(missing)) throw wrong('has a `missing` that is neither "absent" nor a number');
  if (!isRecord(weights) || Object.keys(weights).length === 0) throw wrong('has no weights');
  const read = new Map<string, WeightsEntry>();
  for (const [name, weight] of Object.entries(weights)) {
    if (!isWeight(weight))
      throw wrong(`has a weight of \`${name}\` that is neither a number nor { "weight": number }`);
    read.set(name, weight);
  }
  return { bias, missing, weights: read };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isMissing(value: unknown): value is Missing {
  return value === 'absent' || isNumber(value);
}

function isWeight(value: unknown): value is WeightsEntry {
  if (isNumber(value)) return true;
  if (!isRecord(value) || !isNumber(value['weight'])) return false;
  const others = Object.keys(value).filter((key) => key !== 'weight' && key !== 'missing');
  return others.length === 0 && (value['missing'] === undefined || isMissing(value['missing']));
}
