/**
 * Writes the tables of the docs, the JSON Schema of millrace.yaml, the alert rules and the dashboard from the code, and
 * the types of plugins' options from their schemas:
 * `node dist/scripts/generate.js`. With --check it writes nothing and fails if a file is out of date.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { stringify } from 'yaml';
import { SCOPES } from '../runtime/access/scopes.js';
import { ERROR_CODES } from '../runtime/api/error-codes.js';
import type { SinkPlugin } from '../runtime/api/ledger.js';
import type { SourcePlugin } from '../runtime/api/source.js';
import type { Plugin } from '../runtime/api/plugin.js';
import type { JsonObject, JsonValue } from '../runtime/api/types.js';
import { takes } from '../runtime/app/plugins/option-words.js';
import { REJECT_REASONS } from '../runtime/dataset/import/foreign-event.js';
import { functionTable } from '../runtime/expression/function-table.js';
import { DIAGNOSTIC_CODES } from '../runtime/config/diagnostics/diagnostic-codes.js';
import { SERVICE_ROUTES } from '../runtime/http/routes.js';
import { explain } from '../runtime/http/routes/explain.js';
import { rank } from '../runtime/http/routes/rank.js';
import { EVENT_TYPES } from '../runtime/core/event-types.js';
import type { Pipeline } from '../runtime/pipeline/types.js';
import { PROPERTIES } from '../runtime/ranking-tests/properties/properties.js';
import { STAGES } from '../runtime/pipeline/stages.js';
import { SPANS } from '../runtime/tracing/spans.js';
import { keyOf, type SettingRow } from '../runtime/settings/setting-row.js';
import { SETTINGS } from '../runtime/settings/settings.js';
import { languageTable } from '../runtime/text/languages.js';
import { apiReference } from './api-reference.js';
import { productionPackages, readLockFile } from './lock-file.js';
import { registeredMetrics } from './metric-registry.js';
import { ruleFile } from './observe/alerts.js';
import { dashboard } from './observe/dashboard.js';
import { optionTypes } from './option-types.js';
import { projectSchema } from '../runtime/editor/project-schema.js';

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

function propertyTable(): string {
  return markdownTable(
    ['property', 'what holds'],
    Array.from(PROPERTIES, ([name, { summary }]) => [`\`${name}\``, summary]),
  );
}

function diagnosticTable(): string {
  return markdownTable(
    ['code', 'meaning'],
    Object.entries(DIAGNOSTIC_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
  );
}

function rejectReasonTable(): string {
  return markdownTable(
    ['reason', 'meaning'],
    Object.entries(REJECT_REASONS).map(([reason, meaning]) => [`\`${reason}\``, meaning]),
  );
}

function stageTable(): string {
  return markdownTable(
    ['stage', 'what it does'],
    STAGES.map(({ name, does }) => [`\`${name}\``, does]),
  );
}

function spanTable(): string {
  return markdownTable(
    ['span', 'kind', 'below', 'what it covers', 'attributes'],
    Object.values(SPANS).map(({ name, kind, parent, does, attributes }) => [
      name,
      kind.toUpperCase(),
      parent,
      does,
      attributes.map((one) => `\`${one}\``).join(', '),
    ]),
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
    ['key in millrace.yaml', 'variable', 'flag', 'default', 'meaning'],
    rows.map(({ env, flag, default: otherwise, description, inFile }) => [
      inFile === false ? '' : `\`${keyOf({ env })}\``,
      `\`${env}\``,
      flag === undefined ? '' : `\`--${flag}\``,
      otherwise === '' ? '' : `\`${otherwise}\``,
      description,
    ]),
  );
}

/** A pipeline for the description of its routes. None of them runs. */
const ANY_PIPELINE: Pipeline = {
  name: 'any',
  route: 'the route of a pipeline',
  task: 'rank',
  limitMs: 0,
  requestSchema: {},
  answerSchema: {},
  steps: [],
  run: () => Promise.reject(new Error('it has only a name')),
  explain: () => Promise.reject(new Error('it has only a name')),
  describe: () => {
    throw new Error('it has only a name');
  },
};

function scopeTable(): string {
  const routes = [rank(ANY_PIPELINE), explain(ANY_PIPELINE), ...SERVICE_ROUTES];
  const meanings = { ...SCOPES, any: 'Any of these scopes.', none: 'No key.' };
  return markdownTable(
    ['scope', 'what it allows', 'routes'],
    Object.entries(meanings).map(([scope, meaning]) => [
      scope in SCOPES ? `\`${scope}\`` : '',
      meaning,
      routes
        .filter((route) => route.scope === scope)
        .map(({ path }) =>
          path.startsWith('/') ? `\`${path}\`` : path.replace(/(\/\w+)$/, ', with `$1` after it'),
        )
        .join(', '),
    ]),
  );
}

/** The metrics of Millrace itself. The metrics of the process are the defaults of prom-client. */
function metricTable(): string {
  return markdownTable(
    ['metric', 'labels', 'meaning'],
    registeredMetrics()
      .filter(({ name }) => name.startsWith('millrace_'))
      .map(({ name, labelNames, help }) => [
        `\`${name}\``,
        labelNames.map((label) => `\`${label}\``).join(', '),
        help,
      ]),
  );
}

/** The production packages by licence. */
function licenceTable(): string {
  const byLicence = new Map<string, Set<string>>();
  for (const { name, license = 'none' } of productionPackages(
    readLockFile(join(ROOT, 'package-lock.json')),
  )) {
    const names = byLicence.get(license) ?? new Set();
    byLicence.set(license, names.add(name));
  }
  return markdownTable(
    ['licence', 'packages'],
    [...byLicence].sort().map(([licence, names]) => [licence, [...names].join(', ')]),
  );
}

/** Lists the options of a plugin, from its schema. */
function optionTable({ options }: Pick<Plugin, 'options'>): string {
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

/** The components, the sinks and the sources, without the folders that have only a schema yet. */
async function loadPlugins(): Promise<{
  readonly plugins: Plugin[];
  readonly sinks: SinkPlugin[];
  readonly sources: SourcePlugin[];
}> {
  const plugins: Plugin[] = [];
  const sinks: SinkPlugin[] = [];
  const sources: SourcePlugin[] = [];
  for (const name of pluginNames.filter((one) => existsSync(join(ROOT, 'plugins', one, 'index.ts')))) {
    const module = (await import(join(ROOT, 'dist', 'plugins', name, 'index.js'))) as {
      readonly plugin?: Plugin;
      readonly sink?: SinkPlugin;
      readonly source?: SourcePlugin;
    };
    if (module.plugin !== undefined) plugins.push(module.plugin);
    if (module.sink !== undefined) sinks.push(module.sink);
    if (module.source !== undefined) sources.push(module.source);
  }
  return { plugins, sinks, sources };
}

function pluginTable(all: readonly Plugin[]): string {
  return markdownTable(
    ['plugin', 'kind', 'what it does'],
    all.map(({ name, kind, summary }) => [`[${name}](../plugins/${name}/README.md)`, kind, summary]),
  );
}

function outsideTable(what: 'sink' | 'source', all: readonly (SinkPlugin | SourcePlugin)[]): string {
  return markdownTable(
    [what, 'what it does'],
    all.map(({ name, summary }) => [`[${name}](../plugins/${name}/README.md)`, summary]),
  );
}

/** Replaces the text between the markers of a name. A file without the markers is an error. */
function fill(file: string, name: string, content: string): string {
  const [open, close] = [`<!-- generated:${name} -->`, `<!-- /generated -->`];
  const from = file.indexOf(open);
  const to = file.indexOf(close, from);
  if (from < 0 || to < 0) throw new Error(`there are no markers ${open} … ${close}`);
  return `${file.slice(0, from + open.length)}\n\n${content}\n\n${file.slice(to)}`;
}

/** Writes a file if its content changed; with --check it only records the path. */
async function update(path: string, content: string, parser: string): Promise<void> {
  const file = join(ROOT, path);
  const wanted = await format(content, { parser, printWidth: 110, singleQuote: true });
  if (existsSync(file) && readFileSync(file, 'utf8') === wanted) return;
  if (check) {
    stale.push(path);
    return;
  }
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, wanted);
}

const check = process.argv.includes('--check');
const stale: string[] = [];
const pluginNames = readdirSync(join(ROOT, 'plugins')).sort();

for (const name of pluginNames) {
  const folder = `plugins/${name}`;
  const schema = JSON.parse(readFileSync(join(ROOT, folder, 'options.schema.json'), 'utf8')) as JsonObject;
  await update(`${folder}/options.generated.ts`, optionTypes(schema), 'typescript');
  const ofSource = join(ROOT, folder, 'source.schema.json');
  if (existsSync(ofSource))
    await update(
      `${folder}/source.generated.ts`,
      optionTypes(JSON.parse(readFileSync(ofSource, 'utf8')) as JsonObject, 'source.schema.json'),
      'typescript',
    );
}

await update('docs/plugin-api.md', apiReference(join(ROOT, 'dist')), 'markdown');
await update('schemas/project.schema.json', JSON.stringify(projectSchema()), 'json');

const { plugins, sinks, sources } = await loadPlugins();
const targets: readonly (readonly [path: string, marker: string, content: string])[] = [
  ['docs/architecture.md', 'stages', stageTable()],
  ['docs/events.md', 'events', eventTable()],
  ['docs/errors.md', 'errors', errorTable()],
  ['docs/import.md', 'reject-reasons', rejectReasonTable()],
  ['docs/testing.md', 'properties', propertyTable()],
  ['docs/errors.md', 'diagnostics', diagnosticTable()],
  ['docs/access.md', 'scopes', scopeTable()],
  ['docs/settings.md', 'settings', settingTable()],
  ['docs/tracing.md', 'spans', spanTable()],
  ['docs/deploy.md', 'metrics', metricTable()],
  ['docs/licences.md', 'licences', licenceTable()],
  ['docs/plugins.md', 'plugins', pluginTable(plugins)],
  ['docs/plugins.md', 'sinks', outsideTable('sink', sinks)],
  ['docs/sources.md', 'sources', outsideTable('source', sources)],
  ['docs/expressions.md', 'functions', functionTable()],
  ['docs/text.md', 'languages', languageTable()],
  ...[...plugins, ...sinks].map(
    (plugin) => [`plugins/${plugin.name}/README.md`, 'options', optionTable(plugin)] as const,
  ),
  ...sources.map(
    (plugin) => [`plugins/${plugin.name}/README.md`, 'source-options', optionTable(plugin)] as const,
  ),
];
const pages = new Map<string, string>();
for (const [path, marker, content] of targets) {
  const page = pages.get(path) ?? readFileSync(join(ROOT, path), 'utf8');
  pages.set(path, fill(page, marker, content));
}
for (const [path, content] of pages) await update(path, content, 'markdown');

const rules = `# Generated by npm run generate. Change scripts/observe/alerts.ts, not this file.\n${stringify(ruleFile(), { lineWidth: 0 })}`;
await update('deploy/prometheus/millrace-alerts.yaml', rules, 'yaml');
await update('deploy/grafana/dashboards/millrace.json', JSON.stringify(dashboard()), 'json');

if (stale.length > 0) {
  console.error(`out of date: ${stale.join(', ')}; run npm run generate`);
  process.exitCode = 1;
}
