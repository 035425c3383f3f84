import type { JsonObject } from '../api/types.js';
import type { Plan } from '../compile/plan.js';
import type { Frame } from '../frame/frame.js';
import { finiteOrNull } from './answer.js';
import type { RankedRow, Ranking } from './ranking.js';
import type { RankingRequest } from './read-request.js';
import { keyOf, readCell } from './step-view.js';
import type { Trace } from './trace.js';

/**
 * The events of one request, as `include_events` answers them: every feature and prediction with its status, every
 * score that a rule really changed, every candidate in its final order, and the impressions of the page with their
 * place in the whole ranking. Orders are 0-based.
 */
export function eventsOf(
  plan: Plan,
  frame: Frame,
  ranking: Ranking,
  request: RankingRequest,
  page: readonly RankedRow[],
  trace: Trace,
  runId: string,
): JsonObject[] {
  const events: JsonObject[] = [];
  const type = plan.candidateType.name;
  const envelope = {
    request_id: request.requestId,
    run_id: runId,
    api_source: plan.definition.name,
    event_timestamp: new Date(frame.now).toISOString(),
  };
  const add = (eventType: string, data: JsonObject): void => {
    events.push({ ...envelope, event_type: eventType, event_data: data });
  };
  const entity = (row: number): JsonObject => ({
    entity_identifier: request.ids[row] ?? '',
    entity_identifier_type: type,
  });

  for (const level of plan.levels) {
    for (const read of level.features) {
      const keys = read.ids.map((slot) => frame.text(slot));
      const rows = read.scope === 'candidate' ? frame.count : 1;
      const told = new Set<string>();
      for (let row = 0; row < rows; row++) {
        const ids = keys.map((column) => column.values[row * column.stride] ?? '');
        // Candidates of one brand share its features: told once.
        const key = keyOf(ids);
        if (told.has(key)) continue;
        told.add(key);
        const identifier = ids.join(':');
        for (const { name, slot } of read.wants) {
          add('FEATURE', {
            feature_identifier: identifier,
            feature_identifier_type: read.types.join(':'),
            feature_name: name,
            ...cell(frame, slot, row, 'feature_value', 'feature_status'),
          });
        }
      }
    }
  }
  // Definitions are features like any other, of the candidate or of the request; so is what `answer:` names.
  for (const { name, slot } of [...plan.definitions, ...plan.answer.values]) {
    const ofRequest = plan.layout.columns[slot]?.shape.scope === 'request';
    for (const row of ofRequest ? [0] : ranking.rows) {
      add('FEATURE', {
        feature_identifier: ofRequest ? request.requestId : (request.ids[row] ?? ''),
        feature_identifier_type: ofRequest ? 'request' : type,
        feature_name: name,
        ...cell(frame, slot, row, 'feature_value', 'feature_status'),
      });
    }
  }
  for (const step of trace.steps) {
    for (const [output, slot] of step.outputs) {
      for (const row of ranking.rows) {
        if (step.kind === 'model') {
          add('MODEL', {
            model_name: step.as,
            model_version: step.version ?? null,
            ...cell(frame, slot, row, 'model_output', 'model_output_status'),
            ...entity(row),
          });
        } else {
          add('FEATURE', {
            feature_identifier: request.ids[row] ?? '',
            feature_identifier_type: type,
            feature_name: `${step.as}:${output}`,
            ...cell(frame, slot, row, 'feature_value', 'feature_status'),
          });
        }
      }
    }
  }
  for (const { step, row, before, after } of trace.changes) {
    add('BUSINESS_LOGIC', {
      ...entity(row),
      business_logic_pipeline_order: step.number,
      business_logic_name: step.as,
      old_score: finiteOrNull(before),
      new_score: finiteOrNull(after),
    });
  }
  const all = ranking.slice(0, ranking.rows.length);
  const order = new Map(all.map(({ row }, place) => [row, place]));
  for (const [place, { row, score }] of all.entries()) {
    add('CANDIDATE', { ...entity(row), candidate_score: finiteOrNull(score), candidate_order: place });
  }
  // One entity is scored for its score: nobody is shown it.
  if (plan.definition.task === 'score') return events;
  for (const { row, score } of page) {
    add('IMPRESSION', { ...entity(row), impression_score: score, impression_order: order.get(row) ?? 0 });
  }
  return events;
}

function cell(frame: Frame, slot: number, row: number, valueName: string, statusName: string): JsonObject {
  const { value, status, cause } = readCell(frame, slot, row);
  const why = cause === undefined ? {} : { [`${statusName}_cause`]: cause };
  return { [valueName]: value ?? null, [statusName]: status, ...why };
}
