import { validateHeaderName, validateHeaderValue } from 'node:http';
import { OptionError } from 'millrace/api';

/** Headers that the connection sets itself. */
const RESERVED: ReadonlySet<string> = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * The headers of every call, with names in lower case.
 * @throws OptionError, without the value, which may be a secret
 */
export function checkedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const wrong = (what: string, part: 'key' | 'value' = 'key'): OptionError =>
        new OptionError(['headers', name], what, undefined, part);
      if (RESERVED.has(name.toLowerCase())) throw wrong(`\`${name}\` is not a header that a step can set`);
      try {
        validateHeaderName(name);
      } catch {
        throw wrong(`\`${name}\` is not the name of a header`);
      }
      try {
        validateHeaderValue(name, value);
      } catch {
        throw wrong(`the value of \`${name}\` has characters that a header cannot hold`, 'value');
      }
      return [name.toLowerCase(), value];
    }),
  );
}
