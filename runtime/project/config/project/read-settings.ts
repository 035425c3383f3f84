import { DiagnosticsError } from '../diagnostics/diagnostics-error.js';
import type { Diagnostic } from '../diagnostics/diagnostics.js';
import { PROJECT_FILE } from '../../settings/setting-origin.js';
import {
  loadSettings,
  projectFolder,
  readEach,
  type SettingFlags,
  type Settings,
} from '../../settings/settings.js';
import type { Environment } from '../yaml/interpolate.js';
import { loadProjectFile } from './load-project-file.js';

/** millrace.yaml has errors. */
class ProjectFileInvalidError extends DiagnosticsError {
  constructor(diagnostics: readonly Diagnostic[]) {
    super('invalid_setting', PROJECT_FILE, diagnostics);
    this.name = 'ProjectFileInvalidError';
  }
}

export interface CheckedSettings {
  /** If millrace.yaml has errors, these are the settings without them. */
  readonly settings: Settings;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads the settings from the flags, the environment and millrace.yaml, and returns the errors of that file.
 * @throws MillraceError invalid_setting if a flag or a variable is wrong, or if settings contradict each other
 */
export async function checkSettings(environment: Environment, flags: SettingFlags): Promise<CheckedSettings> {
  const folder = projectFolder(environment, flags);
  const { file, diagnostics } = await loadProjectFile(folder, environment);
  // Settings can seem to contradict each other because some are missing.
  const load = hasErrors(diagnostics) ? readEach : loadSettings;
  return { settings: load(environment, flags, file), diagnostics };
}

/**
 * Reads the settings from the flags, the environment and millrace.yaml.
 * @param content the content of millrace.yaml if it was read before, e.g. by another process
 * @throws ProjectFileInvalidError; MillraceError invalid_setting
 */
export async function readSettings(
  environment: Environment,
  flags: SettingFlags,
  content?: { readonly content: string | undefined },
): Promise<Settings> {
  const folder = projectFolder(environment, flags);
  const { file, diagnostics } = await loadProjectFile(folder, environment, content);
  if (hasErrors(diagnostics)) throw new ProjectFileInvalidError(diagnostics);
  return loadSettings(environment, flags, file);
}

function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === 'error');
}
