import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { EntityType, FeatureView } from '../config/model.js';
import type { TableState } from '../resident/resident-tables.js';
import type { Pipeline } from '../pipeline/types.js';

/** What the HTTP app needs of the rest. Bodies are parsed JSON, not yet checked; the services check them. */
export interface HttpServices {
  readonly entities: EntityService;
  readonly features: FeatureService;
  readonly online: OnlineFeatureService;
  readonly pipelines: readonly Pipeline[];
  readonly store: { ping(): Promise<void> };
  /** For /metrics; undefined where nothing is kept in process. */
  readonly resident?: ResidentSource;
  /** For the reference. */
  readonly entityTypes: ReadonlyMap<string, EntityType>;
  /** For the reference. */
  readonly views: ReadonlyMap<string, FeatureView>;
  readonly logger: Logger;
  /** Of Millrace, for the reference. */
  readonly version: string;
  readonly limits?: Partial<BodyLimits>;
  /** Where /metrics gathers from; a new one unless other parts of the process count into it too. */
  readonly registry?: Registry;
}

/** Each answers the response body, or throws MillraceError. */
export interface EntityService {
  upload(body: unknown): Promise<unknown>;
  get(body: unknown): Promise<unknown>;
  remove(body: unknown): Promise<unknown>;
}

export interface FeatureService {
  push(body: unknown): Promise<unknown>;
}

/** What the resident tables hold and have counted. */
export interface ResidentSource {
  states(): readonly TableState[];
  isCurrent(): boolean;
}

export interface OnlineFeatureService {
  get(body: unknown): Promise<unknown>;
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
