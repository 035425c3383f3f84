import type { Logger } from 'pino';
import { loadProjectFile } from '../../../project/config/project/load-project-file.js';
import { PROJECT_FILE, type ProjectFile } from '../../../project/settings/setting-origin.js';
import type { Settings } from '../../../project/settings/settings.js';
import { placeOf } from './reloader.js';

/** Reports changes of millrace.yaml. The process keeps the settings that it started with. */
export class ProjectFileChanges {
  /** The content that the last report was about, and what a reload applied of it. */
  #told: string | undefined;
  #applied: string | undefined;
  readonly #inUse: ProjectFile | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {
    this.#inUse = settings.sources.file;
    this.#told = this.#inUse?.content;
    this.#applied = this.#inUse?.applied;
  }

  /**
   * Reads the file and logs how it differs from the settings in use. Each content is reported once.
   * @returns whether a part that a reload applies has changed since the last call
   */
  async tell(): Promise<boolean> {
    if (this.#inUse === undefined) return false;
    const { file, diagnostics } = await loadProjectFile(this.settings.project, process.env);
    if (file.content === this.#told) return false;
    this.#told = file.content;
    const isNew = file.applied !== this.#applied;
    this.#applied = file.applied;
    const keys = changedKeys(this.#inUse, file);
    for (const one of diagnostics) this.logger.warn(placeOf(one), one.message);
    if (diagnostics.length > 0)
      this.logger.warn(
        { file: PROJECT_FILE },
        `${PROJECT_FILE} has errors: the service could not start again`,
      );
    else if (keys.length > 0)
      this.logger.warn(
        { file: PROJECT_FILE, keys },
        `${PROJECT_FILE} has changed: restart the service to apply the changed keys`,
      );
    return isNew;
  }
}

/** Returns the keys with other values, without the values: some are secret. */
function changedKeys(before: ProjectFile, after: ProjectFile): string[] {
  const keys = new Set([...before.settings.keys(), ...after.settings.keys()]);
  const changed = [...keys].filter((key) => before.settings.get(key)?.text !== after.settings.get(key)?.text);
  return before.name === after.name ? changed : ['project', ...changed];
}
