/**
 * Writes the tables of the docs, the JSON Schema of millrace.yaml, the alert rules and the dashboard from the code, the
 * types of plugins' options from their schemas, and the version of package.json into the files that state it:
 * `node dist/scripts/generate.js`. With --check it writes nothing and fails if a file is out of date.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { stringify } from 'yaml';
import type { JsonObject } from '../runtime/ground/api/types.js';
import { projectSchema } from '../runtime/project/editor/project-schema.js';
import { functionTable } from '../runtime/language/expression/function-table.js';
import { languageTable } from '../runtime/ground/text/languages.js';
import { apiReference } from './api-reference.js';
import { loadPlugins } from './load-plugins.js';
import { ruleFile } from './observe/alerts.js';
import { dashboard } from './observe/dashboard.js';
import { optionTypes } from './option-types.js';
import { withStatedVersion } from './stated-version.js';
import {
  diagnosticTable,
  errorTable,
  propertyTable,
  rejectReasonTable,
  scoringTable,
  statusTable,
} from './tables/code-tables.js';
import { rankingFieldTable } from './tables/ledger-table.js';
import { licenceTable } from './tables/licence-table.js';
import { metricTable } from './tables/metric-table.js';
import { optionTable, outsideTable, pluginTable } from './tables/plugin-tables.js';
import { roleTable, scopeTable } from './tables/scope-table.js';
import { settingTable } from './tables/setting-table.js';
import { eventTable, spanTable, stageTable } from './tables/trace-tables.js';
import { withApiWords, yamlKeys } from './yaml-keys.js';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Replaces the text between the markers of a name. A file without the markers is an error. */
function fill(file: string, name: string, content: string): string {
  const [open, close] = [`<!-- generated:${name} -->`, `<!-- /generated -->`];
  const from = file.indexOf(open);
  const to = file.indexOf(close, from);
  if (from < 0 || to < 0) throw new Error(`there are no markers ${open} … ${close}`);
  return `${file.slice(0, from + open.length)}\n\n${content}\n\n${file.slice(to)}`;
}

/** Formats and writes a file if its content changed; with --check it only records the path. */
async function update(path: string, content: string, parser: string): Promise<void> {
  write(path, await format(content, { parser, printWidth: 110, singleQuote: true }));
}

/** As `update`, without a change of its form. */
function write(path: string, wanted: string): void {
  const file = join(ROOT, path);
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
  for (const what of ['source', 'reader']) {
    const own = join(ROOT, folder, `${what}.schema.json`);
    if (existsSync(own))
      await update(
        `${folder}/${what}.generated.ts`,
        optionTypes(JSON.parse(readFileSync(own, 'utf8')) as JsonObject, `${what}.schema.json`),
        'typescript',
      );
  }
}

for (const [path, content] of withStatedVersion(ROOT)) write(path, content);

// The schema of millrace.yaml is made from the table of settings.
const ofFiles = readdirSync(join(ROOT, 'schemas')).filter((file) =>
  /^(?!project\.).*\.schema\.json$/.test(file),
);
const schemas = new Map<string, JsonObject>();
for (const file of ofFiles.sort()) {
  const path = `schemas/${file}`;
  const schema = withApiWords(JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as JsonObject) as JsonObject;
  await update(path, JSON.stringify(schema), 'json');
  schemas.set(file.replace('.schema.json', ''), schema);
}
await update('runtime/project/config/model/yaml-keys.generated.ts', yamlKeys(schemas), 'typescript');
await update('docs/reference/plugin-api.md', apiReference(join(ROOT, 'dist')), 'markdown');
await update('schemas/project.schema.json', JSON.stringify(projectSchema()), 'json');

const { plugins, sinks, sources, readers } = await loadPlugins(ROOT, pluginNames);
const targets: readonly (readonly [path: string, marker: string, content: string])[] = [
  ['docs/architecture.md', 'stages', stageTable()],
  ['docs/concepts.md', 'statuses', statusTable()],
  ['docs/events.md', 'events', eventTable()],
  ['docs/reference/errors.md', 'errors', errorTable()],
  ['docs/import.md', 'reject-reasons', rejectReasonTable()],
  ['docs/testing.md', 'properties', propertyTable()],
  ['docs/reference/errors.md', 'diagnostics', diagnosticTable()],
  ['docs/access.md', 'scopes', scopeTable()],
  ['docs/access.md', 'roles', roleTable()],
  ['docs/reference/settings.md', 'settings', settingTable()],
  ['docs/tracing.md', 'spans', spanTable()],
  ['docs/deploy.md', 'metrics', metricTable()],
  ['docs/ledger.md', 'ranking-fields', rankingFieldTable()],
  ['docs/licences.md', 'licences', licenceTable(join(ROOT, 'package-lock.json'))],
  ['docs/plugins.md', 'plugins', pluginTable(plugins)],
  ['docs/plugins.md', 'scoring', scoringTable()],
  ['docs/plugins.md', 'sinks', outsideTable('sink', sinks)],
  ['docs/sources.md', 'sources', outsideTable('source', sources)],
  ['docs/readers.md', 'readers', outsideTable('reader', readers)],
  ['docs/expressions.md', 'functions', functionTable()],
  ['docs/text.md', 'languages', languageTable()],
  ...[...plugins, ...sinks].map(
    (plugin) => [`plugins/${plugin.name}/README.md`, 'options', optionTable(plugin)] as const,
  ),
  ...sources.map(
    (plugin) => [`plugins/${plugin.name}/README.md`, 'source-options', optionTable(plugin)] as const,
  ),
  ...readers.map(
    (plugin) => [`plugins/${plugin.name}/README.md`, 'reader-options', optionTable(plugin)] as const,
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
