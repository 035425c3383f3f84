import type { SinkPlugin } from '../../runtime/ground/api/ledger.js';
import type { Plugin } from '../../runtime/ground/api/plugin.js';
import type { ReaderPlugin } from '../../runtime/ground/api/reader.js';
import type { SourcePlugin } from '../../runtime/ground/api/source.js';
import type { JsonObject, JsonValue } from '../../runtime/ground/api/types.js';
import { takes } from '../../runtime/serve/app/plugins/option-words.js';
import { markdownTable } from './markdown-table.js';

export function pluginTable(all: readonly Plugin[]): string {
  return markdownTable(
    ['plugin', 'kind', 'what it does'],
    all.map(({ name, kind, summary }) => [`[${name}](../plugins/${name}/README.md)`, kind, summary]),
  );
}

export function outsideTable(
  what: 'sink' | 'source' | 'reader',
  all: readonly (SinkPlugin | SourcePlugin | ReaderPlugin)[],
): string {
  return markdownTable(
    [what, 'what it does'],
    all.map(({ name, summary }) => [`[${name}](../plugins/${name}/README.md)`, summary]),
  );
}

/** Lists the options of a plugin, from its schema. */
export function optionTable({ options }: Pick<Plugin, 'options'>): string {
  const properties = (options.properties ?? {}) as JsonObject;
  const required = new Set((options.required ?? []) as readonly string[]);
  return markdownTable(
    ['option', 'takes', 'default', 'meaning'],
    Object.entries(properties).map(([name, schema]) => {
      const option = schema as JsonObject;
      const otherwise =
        option.default === undefined
          ? required.has(name)
            ? 'required'
            : ''
          : `\`${JSON.stringify(option.default)}\``;
      return [`\`${name}\``, takes(option), otherwise, text(option.description)];
    }),
  );
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}
