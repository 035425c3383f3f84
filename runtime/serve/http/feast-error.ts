import type { MillraceError } from '../../ground/api/errors.js';
import { UnknownFeastName, type FeastObject } from '../../state/index/view-names.js';

/** The class of feast.errors that Feast's feature server raises for each kind of missing object. */
const CLASSES: Readonly<Record<FeastObject, string>> = {
  view: 'FeatureViewNotFoundException',
  service: 'FeatureServiceNotFoundException',
  'push source': 'PushSourceNotFoundException',
};

/**
 * The body of an error as Feast's clients expect it (feast/errors.py, `FeastError.from_error_detail`, version 0.67): a
 * JSON text that holds JSON with module, class and message. The client raises that exception.
 */
export function feastErrorBody(error: MillraceError): string {
  const name = error instanceof UnknownFeastName ? CLASSES[error.kind] : 'FeastError';
  const places = error.violations.slice(0, 5).map(({ pointer, detail }) => `${pointer}: ${detail}`);
  const message = error.violations.length > 1 ? `${error.message}: ${places.join('; ')}` : error.message;
  return JSON.stringify(JSON.stringify({ module: 'feast.errors', class: name, message }));
}
