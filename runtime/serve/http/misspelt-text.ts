import type { MisspeltField } from '../../request/pipeline/request/misspelt-fields.js';

/** The header `Millrace-Unknown-Fields`. A name that a header cannot have is left out. */
export function misspeltText(fields: readonly MisspeltField[]): string {
  return fields
    .filter(({ field }) => /^[\w.-]{1,100}$/.test(field))
    .map(({ field, near }) => `${field};near=${near}`)
    .join(', ');
}
