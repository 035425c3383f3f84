import type { StoreFailure } from '../../../ground/api/error-codes.js';
import type { Pieces } from '../../../ground/core/pieces.js';
import type { JsonObject } from '../../../ground/api/types.js';
import type { AttributeColumn, FeatureRead, NamedColumn, Plan, PlannedStep } from '../../compile/plan.js';
import type { Frame } from '../../../language/frame/frame.js';
import { idsText } from '../../../ground/core/ids.js';
import type { JsonText } from '../../../ground/core/json-writer.js';
import { customEventText } from '../../../ground/core/event-types.js';
import { degradationText } from './degraded.js';
import { cellTexts, EventWriter, numberText } from './event-writer.js';
import type { RankedRow, Ranking } from '../../ordering/ranking.js';
import type { IdHasher } from '../../../ground/core/id-hasher.js';
import { PRIVATE } from './private-value.js';
import type { RankingRequest } from '../request/read-request.js';
import type { Move, Trace } from '../components/trace.js';

/** Events to write before other work on the event loop may run. */
const PIECE = 32;

/** A request whose page is made. */
export interface RankedPage {
  readonly plan: Plan;
  readonly frame: Frame;
  readonly request: RankingRequest;
  readonly ranking: Ranking;
  readonly page: readonly RankedRow[];
  readonly trace: Trace;
  /** Why the candidates are unranked; then there are no events of values that were not computed. */
  readonly lossCode: StoreFailure | undefined;
  readonly hasher: IdHasher;
}

/**
 * The events of one request for `include_events`: every attribute, feature, expression and prediction with its status,
 * every score that a rule changed, every candidate in its final order, and the impressions of the page with their place
 * in the whole ranking. Orders are 0-based. The plan lists the columns.
 */
export function* eventsOf(ranked: RankedPage): Pieces<JsonText<readonly JsonObject[]>> {
  const { plan, frame, request, ranking, page, trace, lossCode, hasher } = ranked;
  const writer = new EventWriter({
    request_id: request.requestId,
    run_id: trace.runId,
    api_source: plan.definition.name,
    event_timestamp: new Date(frame.now).toISOString(),
    ...(lossCode === undefined ? {} : { degraded: degradationText({ cause: 'unranked', value: lossCode }) }),
  });
  const events = new RequestEvents(writer, plan, frame, request, hasher);
  for (const attribute of plan.attributes) yield* events.attribute(attribute);
  for (const { features } of plan.levels) for (const read of features) yield* events.features(read);
  if (lossCode !== undefined) {
    yield* events.places(ranking, page);
    return writer.end();
  }
  // Definitions and the values of `answer:` are features of the candidate or of the request.
  for (const named of [...plan.definitions, ...plan.answer.named]) yield* events.value(named, events.sent);
  // A condition belongs to the request, whether or not its step ran.
  for (const { when } of plan.steps) if (when?.computes) yield* events.value(when.computes, events.sent);
  for (const { step, rows } of trace.runs) {
    for (const named of step.computes) yield* events.value(named, rows);
    for (const [output, slot] of step.outputs) {
      if (step.kind === 'model') yield* events.predictions(step, slot, ranking.rows);
      else yield* events.value({ name: `${step.as}:${output}`, slot }, ranking.rows);
    }
  }
  yield* events.changes(trace);
  events.custom();
  yield* events.places(ranking, page);
  return writer.end();
}

/** Writes the events of one request. */
class RequestEvents {
  /** All rows of the request. */
  readonly sent: Int32Array;
  readonly #writer: EventWriter;
  readonly #plan: Plan;
  readonly #frame: Frame;
  readonly #request: RankingRequest;
  readonly #hasher: IdHasher;
  /** JSON of the ids that were hashed for this request, by type and id. */
  readonly #hashed = new Map<string, Map<string, string>>();
  /** The ids of the candidates as JSON, by row. */
  readonly #ids: readonly string[];
  /** The members that identify the candidate, by row. */
  readonly #entities: readonly string[];

  constructor(writer: EventWriter, plan: Plan, frame: Frame, request: RankingRequest, hasher: IdHasher) {
    this.#writer = writer;
    this.#plan = plan;
    this.#frame = frame;
    this.#request = request;
    this.#hasher = hasher;
    this.sent = Int32Array.from({ length: frame.count }, (_, row) => row);
    this.#ids = request.ids.map((id) => this.#idText(plan.candidateType.name, id));
    const type = JSON.stringify(plan.candidateType.name);
    this.#entities = this.#ids.map((id) => `"entity_identifier":${id},"entity_identifier_type":${type}`);
  }

  /**
   * Rows that share an entity get one event, unless the request carries different values of the entity in another row.
   */
  *attribute({ name, slot, type, ids, scope, shared }: AttributeColumn): Pieces<void> {
    const { values, stride } = this.#frame.text(ids);
    const idText = this.#idTexts(ids);
    const cell = this.#cells(slot);
    const of = featureOf(type, name);
    const rows = scope === 'candidate' ? this.#frame.count : 1;
    const seen = new Set<string>();
    for (let row = 0; row < rows; row++) {
      if (row % PIECE === PIECE - 1) yield;
      const data = `"feature_identifier":${idText(values[row * stride] ?? '')}${of}${cell(row)}`;
      if (shared) {
        if (seen.has(data)) continue;
        seen.add(data);
      }
      this.#writer.add('FEATURE', data);
    }
  }

  /**
   * The features of one or several views with the same key: one event for each key and feature, even if several rows
   * share the key.
   */
  *features({ ids, scope, types, wants }: FeatureRead): Pieces<void> {
    const keys = ids.map((slot) => this.#frame.text(slot));
    const rows = scope === 'candidate' ? this.#frame.count : 1;
    const shown = ids.map((slot) => this.#idShown(slot));
    const type = types.join(':');
    const columns = wants.map(({ name, slot }) => ({ of: featureOf(type, name), cell: this.#cells(slot) }));
    const seen = new Set<string>();
    for (let row = 0; row < rows; row++) {
      const key = keys.map((column, i) => shown[i]?.(column.values[row * column.stride] ?? '') ?? '');
      const text = idsText(key);
      if (seen.has(text)) continue;
      seen.add(text);
      const identifier = `"feature_identifier":${JSON.stringify(key.join(':'))}`;
      for (const { of, cell } of columns) this.#writer.add('FEATURE', identifier + of + cell(row));
      yield;
    }
  }

  /**
   * A value of each candidate, or of the request. @param rows the candidates to write; ignored for a value of the
   * request
   */
  *value({ name, slot }: NamedColumn, rows: Int32Array): Pieces<void> {
    const cell = this.#cells(slot);
    if (this.#plan.layout.columns[slot]?.shape.scope === 'request') {
      const identifier = JSON.stringify(this.#request.requestId);
      const of = featureOf('request', name);
      this.#writer.add('FEATURE', `"feature_identifier":${identifier}${of}${cell(0)}`);
      return;
    }
    const of = featureOf(this.#plan.candidateType.name, name);
    let next = PIECE;
    for (const row of rows) {
      this.#writer.add('FEATURE', `"feature_identifier":${this.#ids[row] ?? '""'}${of}${cell(row)}`);
      if (--next > 0) continue;
      next = PIECE;
      yield;
    }
  }

  *predictions({ as, version }: PlannedStep, slot: number, rows: Int32Array): Pieces<void> {
    const cell = cellTexts(this.#column(slot), 'model_output', 'model_output_status', this.#show(slot));
    const of = `"model_name":${JSON.stringify(as)},"model_version":${JSON.stringify(version ?? null)},`;
    let next = PIECE;
    for (const row of rows) {
      this.#writer.add('MODEL', `${of}${cell(row)},${this.#entities[row] ?? ''}`);
      if (--next > 0) continue;
      next = PIECE;
      yield;
    }
  }

  *changes({ changes, moves, causes }: Trace): Pieces<void> {
    for (const [i, { step, row, before, after }] of changes.entries()) {
      const { number, as } = step;
      const of = `"business_logic_pipeline_order":${number},"business_logic_name":${JSON.stringify(as)}`;
      const scores = `"old_score":${numberText(before)},"new_score":${numberText(after)}`;
      const rules = rulesText(causes.get(step)?.of(row, 'score'));
      this.#writer.add('BUSINESS_LOGIC', `${this.#entities[row] ?? ''},${of},${scores}${rules}`);
      if (i % PIECE === PIECE - 1) yield;
    }
    // What a rule inside a step moved. Steps without such rules have no event for it.
    for (const [i, move] of moves.entries()) {
      const { step, row } = move;
      const rules = causes.get(step)?.of(row, 'place');
      if (rules === undefined || (move.kind === 'pin' && !move.holds)) continue;
      const of = `"business_logic_pipeline_order":${step.number},"business_logic_name":${JSON.stringify(step.as)}`;
      const moved = `"old_score":null,"new_score":null${placesText(move)}${rulesText(rules)}`;
      this.#writer.add('BUSINESS_LOGIC', `${this.#entities[row] ?? ''},${of},${moved}`);
      if (i % PIECE === PIECE - 1) yield;
    }
  }

  /** The events that components emitted. */
  custom(): void {
    const { name } = this.#plan.candidateType;
    for (const { row, data } of this.#frame.emitted) {
      const id = row === undefined ? this.#request.requestId : (this.#request.ids[row] ?? '');
      const shown = row === undefined ? id : (JSON.parse(this.#idText(name, id)) as string);
      const text = customEventText(shown, row === undefined ? 'request' : name, data);
      this.#writer.add('CUSTOM', text.slice(1, -1));
    }
  }

  *places(ranking: Ranking, page: readonly RankedRow[]): Pieces<void> {
    const order = new Map<number, number>();
    for (const [place, { row, score }] of ranking.slice(0, ranking.rows.length).entries()) {
      order.set(row, place);
      const of = `"candidate_score":${numberText(score)},"candidate_order":${place}`;
      this.#writer.add('CANDIDATE', `${this.#entities[row] ?? ''},${of}`);
      if (place % PIECE === PIECE - 1) yield;
    }
    // A pipeline that scores shows no page, so there are no impressions.
    if (this.#plan.definition.task === 'score') return;
    for (const [i, { row, score }] of page.entries()) {
      const of = `"impression_score":${numberText(score)},"impression_order":${order.get(row) ?? 0}`;
      this.#writer.add('IMPRESSION', `${this.#entities[row] ?? ''},${of}`);
      if (i % PIECE === PIECE - 1) yield;
    }
  }

  #cells(slot: number): (row: number) => string {
    return cellTexts(this.#column(slot), 'feature_value', 'feature_status', this.#show(slot));
  }

  /** How the known values of a column are shown, as JSON; undefined if they are shown as they are. */
  #show(slot: number): Parameters<typeof cellTexts>[3] {
    const { isPrivate, idsOf } = this.#plan.layout.columns[slot] ?? {};
    if (isPrivate === true) return () => JSON.stringify(PRIVATE);
    if (idsOf === undefined || !this.#hasher.hides(idsOf)) return undefined;
    return (value) =>
      typeof value === 'object'
        ? `[${value.map((id) => this.#idText(idsOf, String(id))).join(',')}]`
        : this.#idText(idsOf, String(value));
  }

  /** How the ids of a column are shown, as JSON. */
  #idTexts(slot: number): (id: string) => string {
    return this.#show(slot) ?? ((id) => JSON.stringify(id));
  }

  /** How the ids of a column are shown as a part of a joined identifier. */
  #idShown(slot: number): (id: string) => string {
    const show = this.#show(slot);
    return show === undefined ? (id) => id : (id) => JSON.parse(show(id)) as string;
  }

  #idText(type: string, id: string): string {
    if (!this.#hasher.hides(type)) return JSON.stringify(id);
    let ofType = this.#hashed.get(type);
    if (ofType === undefined) this.#hashed.set(type, (ofType = new Map<string, string>()));
    let text = ofType.get(id);
    if (text === undefined) ofType.set(id, (text = JSON.stringify(this.#hasher.shown(type, id))));
    return text;
  }

  #column(slot: number): Frame['columns'][number] {
    const column = this.#frame.columns[slot];
    if (column === undefined) throw new RangeError(`the frame has no column ${slot}`);
    return column;
  }
}

/** The JSON members between the identifier of a feature and its value. */
function featureOf(type: string, name: string): string {
  return `,"feature_identifier_type":${JSON.stringify(type)},"feature_name":${JSON.stringify(name)},`;
}

/** From where to where a rule moved a candidate, by places from 1, as further members of its event. */
function placesText(move: Move): string {
  const { from } = move;
  const to = move.kind === 'pin' ? move.position : move.to;
  return `${from === undefined ? '' : `,"moved_from":${from}`}${to === undefined ? '' : `,"moved_to":${to}`}`;
}

/** The rules inside a step that made a change, as a further member of its event. */
function rulesText(rules: readonly string[] | undefined): string {
  return rules === undefined ? '' : `,"rules":${JSON.stringify(rules)}`;
}
