import { LineCounter, parseDocument } from 'yaml';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { isJsonObject, own } from '../../../ground/core/value-fit.js';
import { CommandFailure } from '../../config/diagnostics/failure.js';

/**
 * The configuration of Metarank 0.7.11, as far as a project can be made of it. Source: doc/configuration/ of
 * github.com/metarank/metarank.
 */
export interface MetarankConfig {
  readonly models: readonly MetarankModel[];
  readonly features: readonly MetarankFeature[];
  /** The other sections: state, train, source, core, api … */
  readonly sections: JsonObject;
}

export interface MetarankModel {
  readonly name: string;
  readonly type: string;
  /** Names of its features. */
  readonly features: readonly string[];
  readonly options: JsonObject;
}

export interface MetarankFeature {
  readonly name: string;
  readonly type: string;
  readonly options: JsonObject;
}

const SECTIONS = ['models', 'features', 'state', 'train', 'source', 'api', 'core', 'inference'];

/** @throws CommandFailure with the line, if the text is not such a configuration */
export function readMetarankConfig(text: string, file: string): MetarankConfig {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw new CommandFailure(
      `${file}:${line}:${col}: ${error.message}`,
      'Metarank reads YAML; correct the line',
    );
  }
  const whole: unknown = document.toJS({ maxAliasCount: 100 });
  if (!isJsonObject(whole) || !SECTIONS.some((name) => Object.hasOwn(whole, name)))
    throw new CommandFailure(
      `${file} is no configuration of Metarank: it has none of ${SECTIONS.slice(0, 3).join(', ')}`,
      'name the file that Metarank starts with, often config.yml',
    );
  const { models = null, features = null, ...sections } = whole;
  return { models: readModels(models, file), features: readFeatures(features, file), sections };
}

function readModels(value: JsonValue, file: string): MetarankModel[] {
  if (value === null) return [];
  if (!isJsonObject(value)) throw wrong(file, 'models', 'expected a mapping of names to models');
  return Object.entries(value).map(([name, options]) => {
    if (!isJsonObject(options)) throw wrong(file, `models.${name}`, 'expected a mapping');
    return {
      name,
      type: textIn(options, 'type') ?? 'lambdamart',
      features: textsIn(options, 'features'),
      options,
    };
  });
}

function readFeatures(value: JsonValue, file: string): MetarankFeature[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw wrong(file, 'features', 'expected a list');
  return (value as readonly JsonValue[]).map((options, i) => {
    const name = isJsonObject(options) ? textIn(options, 'name') : undefined;
    const type = isJsonObject(options) ? textIn(options, 'type') : undefined;
    if (!isJsonObject(options) || name === undefined || type === undefined)
      throw wrong(file, `features[${i}]`, 'expected a mapping with name and type');
    return { name, type, options };
  });
}

function wrong(file: string, place: string, expected: string): CommandFailure {
  return new CommandFailure(`${file}: ${place}: ${expected}`, 'check the file with `metarank validate`');
}

export function textIn(options: JsonObject, name: string): string | undefined {
  const value = own(options, name);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** One text, or a list of texts. Numbers become texts. */
export function textsIn(options: JsonObject, name: string): readonly string[] {
  const value = own(options, name);
  const list = Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
  return list.flatMap((one) =>
    typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean' ? [String(one)] : [],
  );
}
