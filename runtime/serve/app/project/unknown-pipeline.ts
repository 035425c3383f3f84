import { MillraceError } from '../../../ground/api/errors.js';
import { nearest } from '../../../ground/core/nearest.js';

/** The error for a pipeline that does not exist in `where` (the project or a service). */
export function unknownPipeline(name: string, known: Iterable<string>, where: string): MillraceError {
  const names = [...known];
  const close = nearest(name, names);
  const others = names.length === 0 ? 'none' : names.join(', ');
  const hint = close === undefined ? `it has ${others}` : `did you mean ${close}?`;
  return new MillraceError('unknown_pipeline', `${where} has no pipeline ${name}; ${hint}`);
}
