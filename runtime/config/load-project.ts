import type { Diagnostic } from './diagnostics.js';
import type { ProjectConfig } from './model.js';

export interface LoadedProject {
  /** Undefined if any diagnostic is an error. */
  readonly config: ProjectConfig | undefined;
  /** Everything found, by file and place. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads and checks the YAML files of a project's folder. Never rejects for what the files hold. */
export async function loadProject(
  root: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<LoadedProject> {
  await Promise.resolve();
  throw new Error(`not there yet: ${root} ${String(environment.HOME)}`);
}
