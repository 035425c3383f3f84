import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import type { ReloadOutcome } from '../../http/instance.js';
import type { Audience } from '../../http/edge/audience.js';
import type { Closing } from '../process/end-on-signal.js';
import type { Reload } from '../project/reloader.js';

/** The values of all metrics of a process. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

/** The content of millrace.yaml, as the primary process read it; undefined if there was no such file. */
export interface ProjectFileContent {
  readonly content: string | undefined;
}
/** The port of each listener. */
export type Ports = Readonly<Partial<Record<Audience, number>>>;

/** Messages from the primary process to a worker. */
export type ToWorker =
  /** The answer to `booted`: load the project. */
  | {
      readonly type: 'begin';
      readonly number: number;
      readonly logsProject: boolean;
      /** Every worker has the settings of the primary, also one that starts after the file has changed. */
      readonly file: ProjectFileContent;
    }
  /** All workers are ready, and the primary listens on these ports. */
  | { readonly type: 'listening'; readonly ports: Ports }
  /** A connection that a listener of the primary accepted; the socket comes with the message. */
  | { readonly type: 'connection'; readonly audience: Audience }
  | { readonly type: 'shutting_down' }
  /** No more connections follow: drain and exit. */
  | { readonly type: 'drain'; readonly idleMs: Closing['idleMs'] }
  | { readonly type: 'reload'; readonly isForced: boolean }
  /** Send the current values of the metrics. */
  | { readonly type: 'read_metrics'; readonly id: number }
  /** The answer to `ask_reload`. */
  | ({ readonly type: 'reload_answer'; readonly id: number } & ReloadOutcome)
  /** The answer to `gather_metrics`. */
  | { readonly type: 'metrics_text'; readonly id: number; readonly text: string };

/** Messages from a worker to the primary process. */
export type ToPrimary =
  /** The worker listens to messages: send `begin`. Earlier messages can get lost. */
  | { readonly type: 'booted' }
  /** The project is loaded. */
  | ({ readonly type: 'ready' } & Loaded)
  /** The oldest connection that it was sent and has not confirmed yet is its own now. */
  | { readonly type: 'received' }
  /** The number of connections that were closed since the last message. */
  | { readonly type: 'closed'; readonly connections: number }
  /** The worker received a stop signal itself, or has failed. */
  | { readonly type: 'leaving' }
  /** The worker serves this version of the project from now on, after a reload or a rollback. */
  | { readonly type: 'serving'; readonly version: string }
  | ({ readonly type: 'reloaded' } & Pick<Reload, 'outcome' | 'problem'> & Loaded)
  /** A client asked this worker for a reload: reload all workers. */
  | { readonly type: 'ask_reload'; readonly id: number; readonly isForced: boolean }
  | { readonly type: 'metrics'; readonly id: number; readonly snapshot: MetricsSnapshot }
  /** A client requested /metrics from this worker: send the text for all workers. */
  | { readonly type: 'gather_metrics'; readonly id: number };

/** The project that a worker serves. */
export interface Loaded {
  readonly version: string;
  /** See `CompiledProject.files`. */
  readonly files: Reload['files'];
}
