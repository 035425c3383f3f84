import { isJsonObject } from '../../ground/core/value-fit.js';
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { interpolate } from '../../project/config/yaml/interpolate.js';
import type { SourceFile } from '../../project/config/yaml/source.js';
import { entriesOf, itemsOf, spanOf, textOf } from '../../project/config/yaml/tree.js';
import { templateOf } from '../../project/config/yaml/yaml-document.js';
import { passwordOfUrl } from '../../project/settings/redis-target.js';

/**
 * Reports secrets that are written in the file: options whose schema says `writeOnly`, and passwords in addresses.
 * @returns true if there are any
 */
export function refuseLiteralSecrets(
  node: Node | undefined,
  schema: JsonValue | undefined,
  definition: { readonly name: string; readonly file: SourceFile },
  diagnostics: Diagnostics,
  path: readonly string[] = [],
): boolean {
  const { file } = definition;
  if (isMap(node)) {
    const { properties, additionalProperties } = isJsonObject(schema) ? schema : ({} as JsonObject);
    const known = isJsonObject(properties) ? properties : {};
    const found = entriesOf(file, node).map(({ key, value }) =>
      refuseLiteralSecrets(value, known[key] ?? additionalProperties, definition, diagnostics, [
        ...path,
        key,
      ]),
    );
    return found.includes(true);
  }
  if (isSeq(node)) {
    const items = isJsonObject(schema) ? schema['items'] : undefined;
    const found = itemsOf(node).map((item) =>
      refuseLiteralSecrets(item, items, definition, diagnostics, path),
    );
    return found.includes(true);
  }
  if (!isScalar(node)) return false;
  // What remains without the values of variables is written in the file.
  const template = templateOf(node) ?? textOf(node) ?? '';
  const literal = interpolate(template, {}, ignore, ignore).replace(/\$\{\w+\}/g, '');
  const isSecret = isJsonObject(schema) && schema['writeOnly'] === true;
  if (isSecret ? literal === '' : !literal.includes('://') || passwordOfUrl(literal) === '') return false;
  const at = spanOf(file, node);
  file.hide(at.start, at.end);
  const option = path.join('.');
  const variable = `${definition.name}_${path.at(-1) ?? 'secret'}`.toUpperCase();
  diagnostics.error(
    'literal_secret',
    at,
    isSecret
      ? `\`${option}\`: a secret must come from an environment variable`
      : `\`${option}\`: the password must come from an environment variable`,
    isSecret
      ? `write \`${path.at(-1) ?? option}: "\${${variable}}"\` and set that variable`
      : 'write a variable such as `${PASSWORD}` in place of the password',
  );
  return true;
}

function ignore(): void {
  // Unset variables were reported before.
}
