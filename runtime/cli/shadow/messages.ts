import type { RankedBy } from '../../learn/shadow/tally.js';
import type { JsonObject } from '../../ground/api/types.js';
import type { SettingFlags } from '../../project/settings/settings.js';

/** The first message to the process of an arm. */
export interface OpenArm {
  readonly type: 'open';
  /** The pipeline whose requests are run. */
  readonly pipeline: string;
  /** A pipeline, a project folder or git:REF. */
  readonly against: string;
  readonly params: Readonly<Record<string, number>>;
  readonly flags: SettingFlags;
}

/** One request. The arm answers one after the other. */
export interface RunRequest {
  readonly type: 'run';
  readonly id: number;
  readonly requestId: string;
  readonly body: JsonObject;
}

export type FromArm =
  | { readonly type: 'ready' }
  | { readonly type: 'refused'; readonly problem: string; readonly exitCode: number }
  | {
      readonly type: 'ranked';
      readonly id: number;
      readonly ranked: readonly RankedBy[];
      readonly degraded: readonly string[];
      readonly ms: number;
    }
  | { readonly type: 'failed'; readonly id: number; readonly code: string; readonly ms: number };
