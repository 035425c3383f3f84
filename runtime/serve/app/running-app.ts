import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type { ServedKeys } from '../access/served-keys.js';
import type { Admission } from '../http/admission/admission.js';
import type { Audience } from '../http/edge/audience.js';
import type { HttpMetrics } from '../metrics/http-metrics.js';
import type { Store } from '../../state/store/store.js';
import type { Generation } from './project/generation.js';
import type { Reload, Reloader } from './project/reloader.js';
import type { Sources } from './project/sources.js';

/** What an app shows of the project that serves now. */
type Served = Pick<
  Generation,
  | 'config'
  | 'pipelines'
  | 'entities'
  | 'features'
  | 'scans'
  | 'online'
  | 'feedback'
  | 'experiments'
  | 'forget'
  | 'resident'
  | 'warnings'
  | 'advice'
  | 'version'
  | 'files'
>;

/** A project, wired and ready to answer. After a reload, its fields are those of the project that serves now. */
export interface App extends Served {
  readonly store: Store;
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
  readonly admission: Admission;
  /** The sources that are read. Undefined if none are. */
  readonly sources: Sources | undefined;
  /**
   * Answers each request with the project that serves when the request arrives.
   * @param audience selects the routes for one listener; by default all routes
   */
  http(audience?: Audience): RequestListener;
  /**
   * Loads the files again, those of the project and of the keys, and serves them, if they have no errors. Never rejects.
   * @param isForced whether they are served even if they do not meet the condition of a reload
   */
  reload(isForced?: boolean): Promise<Reload>;
  close(): Promise<void>;
}

/** The parts of an app that live as long as the process. */
interface LastingParts extends Pick<App, 'store' | 'logger' | 'metrics' | 'admission' | 'sources' | 'close'> {
  readonly keys: ServedKeys | undefined;
}

/** Passes everything on to the generation in service. */
export class RunningApp implements App {
  readonly #reloader: Reloader;
  readonly #keys: ServedKeys | undefined;
  readonly store: Store;
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
  readonly admission: Admission;
  readonly sources: Sources | undefined;
  readonly close: () => Promise<void>;

  constructor(reloader: Reloader, parts: LastingParts) {
    this.#reloader = reloader;
    this.#keys = parts.keys;
    this.store = parts.store;
    this.logger = parts.logger;
    this.metrics = parts.metrics;
    this.admission = parts.admission;
    this.sources = parts.sources;
    this.close = () => parts.close();
  }

  get #current(): Generation {
    return this.#reloader.current;
  }

  get config(): Served['config'] {
    return this.#current.config;
  }

  get pipelines(): Served['pipelines'] {
    return this.#current.pipelines;
  }

  get entities(): Served['entities'] {
    return this.#current.entities;
  }

  get features(): Served['features'] {
    return this.#current.features;
  }

  get scans(): Served['scans'] {
    return this.#current.scans;
  }

  get online(): Served['online'] {
    return this.#current.online;
  }

  get feedback(): Served['feedback'] {
    return this.#current.feedback;
  }

  get experiments(): Served['experiments'] {
    return this.#current.experiments;
  }

  get forget(): Served['forget'] {
    return this.#current.forget;
  }

  get resident(): Served['resident'] {
    return this.#current.resident;
  }

  get warnings(): Served['warnings'] {
    return this.#current.warnings;
  }

  get advice(): Served['advice'] {
    return this.#current.advice;
  }

  get version(): Served['version'] {
    return this.#current.version;
  }

  get files(): Served['files'] {
    return this.#current.files;
  }

  http(audience?: Audience): RequestListener {
    this.#current.http(audience); // reports conflicting routes now
    return (req, res) => {
      this.#current.http(audience)(req, res);
    };
  }

  async reload(isForced = false): Promise<Reload> {
    const [reload] = await Promise.all([this.#reloader.reload(isForced), this.#keys?.look()]);
    return reload;
  }
}
