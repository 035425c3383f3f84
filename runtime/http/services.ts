import type { Logger } from 'pino';
import type { EntityType, FeatureView } from '../config/project/model.js';
import type { OnlineReport } from '../index/online-features.js';
import type { FeedbackCounts } from '../feedback/feedback.js';
import type { Pipeline } from '../pipeline/types.js';
import type { HttpMetrics } from '../metrics/http-metrics.js';

/** What the HTTP app needs of the rest. Bodies are parsed JSON, not yet checked; the services check them. */
export interface HttpServices {
  readonly entities: EntityService;
  readonly features: FeatureService;
  readonly scans: ScanService;
  readonly online: OnlineFeatureService;
  readonly feedback: FeedbackService;
  readonly pipelines: readonly Pipeline[];
  readonly store: { ping(): Promise<void> };
  /** For the reference. */
  readonly entityTypes: ReadonlyMap<string, EntityType>;
  /** For the reference. */
  readonly views: ReadonlyMap<string, FeatureView>;
  readonly logger: Logger;
  /** Of Millrace, for the reference. */
  readonly version: string;
  readonly limits?: Partial<BodyLimits>;
  /** What /metrics answers; new ones unless the process has some already. */
  readonly metrics?: HttpMetrics;
  /** Of the project's files, for /readyz. */
  readonly projectVersion?: string;
}

/** Each answers the response body, or throws MillraceError. */
export interface EntityService {
  upload(body: unknown): Promise<unknown>;
  get(body: unknown): Promise<unknown>;
  remove(body: unknown): Promise<unknown>;
}

export interface FeatureService {
  push(body: unknown): Promise<unknown>;
  remove(body: unknown): Promise<unknown>;
}

/** Each answers a page of what the store holds. */
export interface ScanService {
  entities(body: unknown): Promise<unknown>;
  features(body: unknown): Promise<unknown>;
}

export interface OnlineFeatureService {
  /** @param gone aborted when the client is */
  read(
    body: unknown,
    gone?: AbortSignal,
  ): Promise<{ readonly answer: unknown; readonly report: OnlineReport }>;
}

export interface FeedbackService {
  record(body: unknown): Promise<{ readonly answer: unknown; readonly counts: FeedbackCounts }>;
}

/** Largest bodies, in bytes once inflated. */
export interface BodyLimits {
  /** Of a pipeline's route. */
  readonly rankingBytes: number;
  /** Of an upload and of a push of features. */
  readonly uploadBytes: number;
  /** Of every other route. */
  readonly otherBytes: number;
}

export const DEFAULT_LIMITS: BodyLimits = {
  rankingBytes: 2 * 1024 * 1024,
  uploadBytes: 12 * 1024 * 1024,
  otherBytes: 1024 * 1024,
};
