import type { RejectedMessage, SourceMessage } from '../../ground/api/source.js';
import type { JsonObject } from '../../ground/api/types.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import type { SourceDefinition } from '../../project/config/model/sources.js';
import type { FeedbackAnswer } from '../feedback/feedback.js';
import type { UpdateAnswer } from '../../state/index/entity-index.js';
import type { Sent } from '../../state/index/send-batch.js';

/** A row of an upload or a push, numbered by the message that it came with. */
export interface SourceRow {
  readonly line: number;
  readonly value: JsonObject;
  /** The JSON text, if the row is the whole message. It is sent unchanged, so that no digit is lost. */
  readonly json?: string;
  /** The size of the message. */
  readonly bytes: number;
}

/** Where messages are stored: this service, the store of the settings, or a running service. */
export interface SourceTarget {
  /** Stores what users did. @throws MillraceError; after invalid_body nothing is stored */
  feedback(body: JsonObject): Promise<StoredFeedback>;
  /** Stores whole entities. @throws MillraceError; after invalid_body nothing is stored */
  upload(entityType: string, rows: readonly SourceRow[]): Promise<void>;
  /** Merges rows into entities. @throws as `upload` */
  update(
    entityType: string,
    rows: readonly SourceRow[],
    create: boolean,
  ): Promise<Pick<UpdateAnswer, 'unknown_ids'>>;
  /** Stores feature rows. @throws as `upload` */
  push(view: string, rows: readonly SourceRow[]): Promise<Sent>;
}

export interface StoredFeedback extends Omit<FeedbackAnswer, 'request_id'> {
  /** The part of the events that are too old for counters, and were stored without being counted. */
  readonly uncounted?: number;
}

/** What became of events and rows; of messages, if they hold nothing (`skipped`) or cannot be stored (`rejected`). */
export const OUTCOMES = [
  'stored',
  'duplicates',
  'too_old',
  'unused',
  'uncounted',
  'older',
  'expired',
  'skipped',
  'rejected',
] as const;
export type Outcome = (typeof OUTCOMES)[number];
export type Totals = Partial<Record<Outcome, number>>;

export interface Stored {
  readonly totals: Totals;
  readonly rejected: readonly RejectedMessage[];
  /** The kinds of messages that held nothing to store. */
  readonly skipped?: readonly string[];
}

/** Stores the messages of a source. */
export interface Intake {
  /** The outcomes that can occur, in the order in which they are told. */
  readonly outcomes: readonly Outcome[];
  /**
   * Stores messages. A message is stored whole, or rejected whole.
   * @throws any error after which the same messages can be stored later
   */
  store(messages: readonly SourceMessage[], pace: WritePace): Promise<Stored>;
}

/** How fast messages may be written. */
export interface WritePace {
  /** How many writes may be in flight now. */
  readonly atOnce: number;
  /** Waits after a write that took so many milliseconds. */
  rest(tookMs: number): Promise<void>;
}

/** The parts of a project that messages are mapped by. */
export type IntakeProject = Pick<ProjectConfig, 'entities' | 'events'>;

/** The parts of a source's file that say how its messages are read. */
export type MappedSource = Pick<
  SourceDefinition,
  'into' | 'merge' | 'map' | 'event' | 'values' | 'where' | 'positionsFrom' | 'about'
>;
