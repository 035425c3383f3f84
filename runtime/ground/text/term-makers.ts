import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AnalyzerSettings } from './analyzer-settings.js';
import { languageEntry } from './languages.js';

/** What made terms, besides the settings: name and version. Another version may make other terms of the same text. */
export type TermMakers = Readonly<Record<string, string>>;

const require = createRequire(import.meta.url);

/** The makers of the terms of an analyzer in this process. A maker that the settings do not use is left out. */
export function termMakers({ language, stemming }: AnalyzerSettings): TermMakers {
  if (language === undefined) return {};
  const { stem, snowball, own, unspaced } = languageEntry(language);
  const { icu = '', unicode = '' } = process.versions;
  return {
    ...(stemming === 'language' && stem !== undefined && { stemmer: stemmerOf(own === true, snowball) }),
    ...(unspaced === true && { icu, unicode }),
  };
}

function stemmerOf(own: boolean, snowball: number | undefined): string {
  return own ? `Snowball ${String(snowball)}` : `@orama/stemmers ${packageVersion()}`;
}

let version: string | undefined;

/** The package does not export its package.json, which is two folders above the file of a stemmer. */
function packageVersion(): string {
  const path = join(require.resolve('@orama/stemmers/danish'), '../../package.json');
  version ??= (require(path) as { readonly version: string }).version;
  return version;
}
