import { MillraceError } from '../../../ground/api/errors.js';
import { AS_WORD, didYouMean } from '../../../ground/core/nearest.js';

/** The error for a pipeline that does not exist in `where` (the project or a service). */
export function unknownPipeline(name: string, known: Iterable<string>, where: string): MillraceError {
  const names = [...known];
  const others = names.length === 0 ? 'none' : names.join(', ');
  const hint = didYouMean(name, names, AS_WORD) ?? `it has ${others}`;
  return new MillraceError('unknown_pipeline', `${where} has no pipeline ${name}; ${hint}`);
}
