/**
 * Writes the tables of the docs from the code: `node dist/scripts/generate.js`. With --check it writes nothing and
 * fails if a file is not up to date.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { ERROR_CODES } from '../runtime/api/error-codes.js';
import type { Plugin } from '../runtime/api/plugin.js';
import type { JsonObject, JsonValue } from '../runtime/api/types.js';
import { functionTable } from '../runtime/expression/function-table.js';
import { DIAGNOSTIC_CODES } from '../runtime/config/diagnostics/diagnostic-codes.js';
import { HttpMetrics } from '../runtime/metrics/http-metrics.js';
import { OutboundMetrics } from '../runtime/metrics/outbound-metrics.js';
import { countReloads } from '../runtime/metrics/reload-metrics.js';
import { countResident } from '../runtime/metrics/resident-metrics.js';
import { StrayMetrics } from '../runtime/metrics/stray-metrics.js';
import { countWorkers } from '../runtime/metrics/worker-metrics.js';
import { EVENT_TYPES } from '../runtime/pipeline/page/event-types.js';
import { STAGES } from '../runtime/pipeline/stages.js';
import { SETTINGS, type SettingRow } from '../runtime/settings/settings.js';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

type Row = readonly string[];

function markdownTable(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function errorTable(): string {
  return markdownTable(
    ['code', 'status', 'title', 'remedy'],
    Object.entries(ERROR_CODES).map(([code, { status, title, remedy }]) => [
      `\`${code}\``,
      String(status),
      title,
      remedy,
    ]),
  );
}

function diagnosticTable(): string {
  return markdownTable(
    ['code', 'meaning'],
    Object.entries(DIAGNOSTIC_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
  );
}

function stageTable(): string {
  return markdownTable(
    ['stage', 'what it does'],
    STAGES.map(({ name, does }) => [`\`${name}\``, does]),
  );
}

function eventTable(): string {
  return markdownTable(
    ['event_type', 'one for each', 'event_data'],
    Object.entries(EVENT_TYPES).map(([type, { each, data, optional }]) => {
      const isOptional = (member: string): boolean => (optional as readonly string[]).includes(member);
      const members = data.map((member) => `\`${member}\`${isOptional(member) ? ' (of a default)' : ''}`);
      return [`\`${type}\``, each, members.join(', ')];
    }),
  );
}

function settingTable(): string {
  const rows: readonly SettingRow<unknown>[] = Object.values(SETTINGS);
  return markdownTable(
    ['variable', 'flag', 'default', 'meaning'],
    rows.map(({ env, flag, default: otherwise, description }) => [
      `\`${env}\``,
      flag === undefined ? '' : `\`--${flag}\``,
      otherwise === '' ? '' : `\`${otherwise}\``,
      description,
    ]),
  );
}

/** Millrace's own metrics; the process's are prom-client's defaults. */
function metricTable(): string {
  const { registry } = new HttpMetrics();
  new OutboundMetrics().register(registry);
  new StrayMetrics().register(registry);
  countResident(registry, { states: () => [], isCurrent: () => false });
  countReloads(registry, {
    counts: { succeeded: 0, failed: 0 },
    lastFailed: false,
    current: { version: '', loadedAt: 0, models: [] },
  });
  countWorkers(registry, { states: () => [], restarts: () => 0 });
  const metrics = registry.getMetricsAsArray() as unknown as readonly RegisteredMetric[];
  return markdownTable(
    ['metric', 'labels', 'meaning'],
    metrics
      .filter(({ name }) => name.startsWith('millrace_'))
      .map(({ name, labelNames, help }) => [
        `\`${name}\``,
        labelNames.map((label) => `\`${label}\``).join(', '),
        help,
      ]),
  );
}

interface RegisteredMetric {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** The options of a plugin, from its schema. */
function optionTable({ options }: Plugin): string {
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

/** What an option takes, in a few words. */
function takes(schema: JsonObject): string {
  const { millrace } = schema;
  if (typeof millrace === 'string') {
    if (millrace === 'id' || millrace === 'file') return millrace;
    return `expression: ${millrace}`;
  }
  if (typeof millrace === 'object' && millrace !== null) {
    const { expression, scope } = millrace as JsonObject;
    return `expression: ${text(expression)}${scope === 'request' ? ', of the request' : ''}`;
  }
  if (Array.isArray(schema.enum))
    return (schema.enum as JsonValue[]).map((one) => `\`${text(one)}\``).join(', ');
  if (schema.const !== undefined) return `\`${text(schema.const)}\``;
  if (schema.items !== undefined) return `list of ${takes(schema.items as JsonObject)}`;
  for (const several of [schema.oneOf, schema.anyOf]) {
    if (Array.isArray(several)) return several.map((one) => takes(one as JsonObject)).join(', or ');
  }
  return text(schema.type);
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

async function plugins(): Promise<Plugin[]> {
  const folder = join(ROOT, 'dist', 'plugins');
  const loaded: Plugin[] = [];
  for (const name of readdirSync(join(ROOT, 'plugins')).sort()) {
    const module = (await import(join(folder, name, 'index.js'))) as { readonly plugin: Plugin };
    loaded.push(module.plugin);
  }
  return loaded;
}

function pluginTable(all: readonly Plugin[]): string {
  return markdownTable(
    ['plugin', 'kind', 'what it does'],
    all.map(({ name, kind, summary }) => [`[${name}](../plugins/${name}/README.md)`, kind, summary]),
  );
}

/** Replaces what stands between the markers of a name; a file without them is an error. */
function fill(file: string, name: string, content: string): string {
  const [open, close] = [`<!-- generated:${name} -->`, `<!-- /generated -->`];
  const from = file.indexOf(open);
  const to = file.indexOf(close, from);
  if (from < 0 || to < 0) throw new Error(`no markers ${open} … ${close}`);
  return `${file.slice(0, from + open.length)}\n\n${content}\n\n${file.slice(to)}`;
}

const all = await plugins();
const targets: readonly (readonly [path: string, marker: string, content: string])[] = [
  ['docs/architecture.md', 'stages', stageTable()],
  ['docs/events.md', 'events', eventTable()],
  ['docs/errors.md', 'errors', errorTable()],
  ['docs/errors.md', 'diagnostics', diagnosticTable()],
  ['docs/settings.md', 'settings', settingTable()],
  ['docs/deploy.md', 'metrics', metricTable()],
  ['docs/plugins.md', 'plugins', pluginTable(all)],
  ['docs/expressions.md', 'functions', functionTable()],
  ...all.map((plugin) => [`plugins/${plugin.name}/README.md`, 'options', optionTable(plugin)] as const),
];

const check = process.argv.includes('--check');
const files = new Map<string, string>();
for (const [path, marker, content] of targets) {
  const file = files.get(path) ?? readFileSync(join(ROOT, path), 'utf8');
  files.set(path, fill(file, marker, content));
}
const stale: string[] = [];
for (const [path, content] of files) {
  const wanted = await format(content, { parser: 'markdown', printWidth: 110, singleQuote: true });
  if (readFileSync(join(ROOT, path), 'utf8') === wanted) continue;
  if (check) stale.push(path);
  else writeFileSync(join(ROOT, path), wanted);
}
if (stale.length > 0) {
  console.error(`not up to date: ${stale.join(', ')}; run npm run generate`);
  process.exitCode = 1;
}
