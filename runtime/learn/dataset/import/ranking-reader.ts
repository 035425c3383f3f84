import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { actedIds, actedPlaces, readAct } from './acts.js';
import type {
  EventOutput,
  ForeignAct,
  ForeignCandidate,
  ForeignRanking,
  RowReader,
} from '../../../project/foreign/foreign-event.js';
import {
  isWanted,
  onePath,
  ownersReader,
  pathsOf,
  pick,
  readPosition,
  readPropensity,
  readRequest,
  timeReader,
} from '../../../project/foreign/mapped-values.js';
import type { Path, RankingSource } from '../../../project/foreign/mapping.js';
import { Pools } from './pools.js';
import { isMissing, listOf, readId, shown, valueAt } from '../../../project/foreign/read-values.js';

/**
 * Reads rows that hold a candidate that was shown, or a list of them.
 * @param candidateType the entity type of the candidates
 * @param file the number of the file; the ids of requests that the rows do not name contain it
 */
export function rankingReader(source: RankingSource, candidateType: string, file: number): RowReader {
  const { map, where, pool } = source;
  const idPath = onePath(map[candidateType]) ?? '.';
  const items = onePath(map.items);
  const timeOf = timeReader(map.time);
  const ownersOf = ownersReader(map, candidateType);
  const requestPaths = pathsOf(map.request);
  const pools = pool === undefined ? undefined : new Pools(pool, file);
  let rows = 0;

  function readList(
    row: JsonObject,
    list: Omit<ForeignRanking, 'is' | 'candidates'>,
    output: EventOutput,
  ): void {
    const shownItems = listOf(valueAt(row, items ?? ''));
    if (shownItems === undefined || shownItems.every((item) => item === null)) {
      output.reject(
        'no_candidates',
        `${items ?? ''} is ${shownItems === undefined ? 'not a list' : 'empty'}`,
      );
      return;
    }
    const acted = actedIds(row, source.feedback, list.time);
    const places = actedPlaces(row, source, list.time, output);
    if (places === undefined) return;
    const candidates = shownItems.flatMap((item, at): ForeignCandidate[] => {
      if (item === null) return [];
      const candidate = readCandidate(item, source, idPath, list.time, output);
      if (candidate === undefined) return [];
      const position = candidate.position ?? at + 1;
      const acts = [
        ...candidate.acts,
        ...acted.flatMap(({ ids, act }) => (ids.has(candidate.id) ? [act] : [])),
        ...places.flatMap(({ positions, act }) => (positions.has(position) ? [act] : [])),
      ];
      return [{ ...candidate, position, acts }];
    });
    if (candidates.length > 0) output.event({ is: 'ranking', ...list, candidates });
  }

  return {
    read(row, output) {
      if (!isWanted(row, where)) return;
      rows += 1;
      const time = timeOf(row, output);
      if (time === undefined) return;
      const owners = ownersOf(row, output);
      if (owners === undefined) return;
      const request =
        requestPaths.length === 0 ? `row-${file}-${rows}` : readRequest(row, requestPaths, output);
      if (request === undefined) return;
      const list = { request, time, owners, sent: pick(row, source.send) };
      if (items !== undefined) {
        readList(row, list, output);
        return;
      }
      const candidate = readCandidate(row, source, idPath, time, output);
      if (candidate === undefined) return;
      if (pools === undefined) output.event({ is: 'impression', ...list, candidate });
      else for (const full of pools.add(time, candidate)) output.event(full);
    },
    end(output) {
      for (const rest of pools?.end() ?? []) output.event(rest);
    },
  };
}

function readCandidate(
  item: JsonValue,
  source: RankingSource,
  idPath: Path,
  time: number,
  output: EventOutput,
): ForeignCandidate | undefined {
  const id = readId(valueAt(item, idPath), idPath === '.' ? 'the id of an item' : idPath, output);
  if (id === undefined) return undefined;
  const position = readPosition(item, source.map.position, source.positions_from ?? 1, output);
  if (position === null) return undefined;
  const propensity = readPropensity(item, source.map.propensity, output);
  if (propensity === null) return undefined;
  const acts: ForeignAct[] = [];
  for (const [event, path] of Object.entries(source.feedback ?? {})) {
    const value = valueAt(item, path);
    if (Array.isArray(value) || isMissing(value)) continue;
    const act = readAct(value, event, time);
    if (act === null) {
      output.reject('bad_flag', `${path}: ${shown(value)} is not yes or no, a number or a time`);
      return undefined;
    }
    if (act !== undefined) acts.push(act);
  }
  const score = Number(valueAt(item, onePath(source.map.score) ?? ''));
  return {
    id,
    position,
    ...(source.map.score !== undefined && Number.isFinite(score) ? { score } : {}),
    ...(propensity === undefined ? {} : { propensity }),
    carried: pick(item, source.carry),
    acts,
  };
}
