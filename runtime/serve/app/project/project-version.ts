import { createHash } from 'node:crypto';
import { DEFAULT_EVENTS } from '../../../project/config/project/load-events.js';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import type { SourceFile } from '../../../project/config/yaml/source.js';
import { PROJECT_FILE } from '../../../project/settings/setting-origin.js';
import type { CompiledProject } from './compile-project.js';

/**
 * The version of a project: the first 12 hex digits of a SHA-256 over its YAML files and the versions of the files that
 * they name. Two instances have the same version exactly if they have the same files.
 */
export function projectVersion(config: ProjectConfig, files: CompiledProject['files']): string {
  const texts = yamlFilesOf(config).map((file) => [file.path, file.text]);
  const events = config.events === DEFAULT_EVENTS ? [] : [[PROJECT_FILE, eventsText(config.events)]];
  const all = [...texts, ...events, ...files].sort(([a = ''], [b = '']) => (a < b ? -1 : a > b ? 1 : 0));
  return createHash('sha256').update(JSON.stringify(all)).digest('hex').slice(0, 12);
}

/** The YAML files of a project that its version depends on, apart from millrace.yaml. */
export function yamlFilesOf(config: ProjectConfig): readonly SourceFile[] {
  const files = [
    ...Array.from(config.entities.values(), ({ at }) => at?.file),
    ...Array.from(config.views.values(), ({ at }) => at.file),
    ...Array.from(config.counters.values(), ({ at }) => at.file),
    ...config.pipelines.map(({ file }) => file),
    ...config.sinks.map(({ file }) => file),
    ...config.sources.map(({ file }) => file),
    ...config.fronts.map(({ file }) => file),
    ...config.experiments.map(({ file }) => file),
  ];
  return files.flatMap((file) => file ?? []);
}

/** The kinds of feedback. The rest of millrace.yaml sets up a service, not the project. */
function eventsText(events: ProjectConfig['events']): string {
  return JSON.stringify([...events.values()].map(({ name, values }) => [name, [...values]]));
}
