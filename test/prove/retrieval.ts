import { rm } from 'node:fs/promises';
import { Random } from '../../runtime/ground/core/random.js';
import { writeProject } from '../support/project.js';
import {
  ANSWER_BYTES,
  ENGINE_BEHAVIOURS,
  idsOfBehaviour,
  startEngine,
  type EngineBehaviour,
} from '../support/search-engine.js';
import { startProcess } from '../support/service-process.js';
import type { Proof } from './proof.js';

/** Requests that are sent at a time. */
const CLIENTS = 8;
/** Retrievers of a pipeline, at most. */
const MOST_RETRIEVERS = 4;
const TICK_MS = 5;
/** How far beyond its time limit an answer may be, in milliseconds: the machine has other work. */
const SLACK_MS = 1_000;
/** A timer may fire so much early, in milliseconds: Node.js cuts fractions off, and counts whole milliseconds. */
const EARLY_MS = 2;
/** The share of requests that may be refused because the machine is busy. */
const MOST_SHED = 0.02;
const PAGE = 100;
const FUSES = ['rrf', 'first', 'coalesce(r1:place, 9999) * -1', '1 / r1:place'];
const TIMEOUTS = [60, 120, 250, 400];
const TIMES = [500, 800, 1_500];
/** Hits beyond these are not read. The second hit of a behaviour shows what is wrong with it. */
const MOSTS = [2, 5, 50, 1_000];

/** How a drawn retriever finds candidates; `port` is that of the engine, or of nothing. */
const USES: Readonly<Record<string, (name: string, port: number) => string>> = {
  http_search: (name, port) =>
    `use: http_search, with: { url: "http://127.0.0.1:${port}/search", body: { engine: ${name}, does: { expr: request.${name} } }, hits: hits.hits, id: _id, outputs: { score: _score }, partial: [timed_out], max_bytes: ${ANSWER_BYTES} }`,
  opensearch: (name, port) =>
    `use: opensearch, with: { url: "http://127.0.0.1:${port}", index: products, body: { engine: ${name}, does: { expr: request.${name} } }, max_bytes: ${ANSWER_BYTES} }`,
};

interface DrawnRetriever {
  readonly name: string;
  readonly timeoutMs: number;
  /** No server listens at its address. */
  readonly isDead: boolean;
}

interface DrawnPipeline {
  readonly name: string;
  readonly retrievers: readonly DrawnRetriever[];
  readonly most: number;
  readonly timeMs: number;
  readonly yaml: string;
}

/** A port of this host at which nothing listens. */
const NO_SERVER = 1;

function drawPipeline(at: number, port: number, random: Random): DrawnPipeline {
  const of = <T>(list: readonly T[]): T => list[random.between(0, list.length - 1)] as T;
  const [name, most, timeMs] = [`p${at}`, of(MOSTS), of(TIMES)];
  const lines: string[] = [];
  const retrievers = Array.from({ length: random.between(1, MOST_RETRIEVERS) }, (_, index) => {
    const retriever = { name: `r${index + 1}`, timeoutMs: of(TIMEOUTS), isDead: random.chance(0.1) };
    const use = USES[of(Object.keys(USES))];
    if (use === undefined) throw new Error('there is no such retriever');
    const found = use(retriever.name, retriever.isDead ? NO_SERVER : port);
    lines.push(
      `  - { as: ${retriever.name}, when: known(request.${retriever.name}), timeout: ${retriever.timeoutMs}ms, ${found} }`,
    );
    return retriever;
  });
  const fields = Array.from({ length: MOST_RETRIEVERS }, (_, index) => `r${index + 1}: optional(string)`);
  const yaml = `pipeline: ${name}
rank: product
request: { candidates: {}, ${fields.join(', ')} }
limits: { time: ${timeMs}ms }
page: { size: ${PAGE}, max_size: ${PAGE} }
retrieve:
${lines.join('\n')}
merge: { fuse: "${of(FUSES)}", most: ${most} }
components:
  - { use: score, with: { value: 'coalesce(r1:score, 0)' } }
`;
  return { name, retrievers, most, timeMs, yaml };
}

/** What is wrong with an answer; undefined: nothing. `late`: an engine that answers at once was late. */
interface Verdict {
  readonly fault?: string;
  readonly late: number;
}

interface Answer {
  readonly status: number;
  readonly code: unknown;
  readonly ids: readonly string[];
  readonly degraded: readonly string[];
  /** Without the time in which this process could not run. */
  readonly ms: number;
  readonly wholeMs: number;
}

interface Asked extends DrawnRetriever {
  readonly behaviour: EngineBehaviour;
}

function judge({ most, timeMs }: DrawnPipeline, asked: readonly Asked[], answer: Answer): Verdict {
  const { status, code, ids, degraded, ms, wholeMs } = answer;
  if (ms > timeMs + SLACK_MS) return { fault: `${Math.round(ms)} ms of ${timeMs}`, late: 0 };
  const named = new Set(degraded);
  // On a busy machine an engine may not answer in time. It is then named, and its time has passed.
  const isLate = ({ timeoutMs }: Asked): boolean => wholeMs >= timeoutMs - EARLY_MS;
  if (status === 503) {
    const answering = asked.filter(({ behaviour, isDead }) => !isDead && behaviour.counts !== undefined);
    if (code === 'overloaded') return { late: 0 };
    if (code === 'deadline_exceeded' && wholeMs >= timeMs - EARLY_MS) return { late: 0 };
    if (code !== 'retrieval_failed')
      return { fault: `503 ${String(code)} after ${wholeMs.toFixed(1)} ms of ${timeMs}`, late: 0 };
    return answering.every(isLate)
      ? { late: answering.length }
      : { fault: 'refused, and a retriever answered', late: 0 };
  }
  if (status !== 200) return { fault: `status ${status}`, late: 0 };
  let late = 0;
  const possible = new Set<string>();
  for (const retriever of asked) {
    const { name, behaviour, isDead } = retriever;
    const isNamed = named.delete(`retrieve=${name}`);
    const counts = isDead ? undefined : behaviour.counts;
    if (counts !== 'found' && !isNamed) return { fault: `${name} is not named`, late };
    if (counts === undefined) continue;
    const own = idsOfBehaviour(behaviour, name);
    if (counts === 'found' && isNamed) {
      if (!isLate(retriever)) return { fault: `${name} is named after ${Math.round(wholeMs)} ms`, late };
      late++;
      if (ids.some((id) => id.startsWith(name))) return { fault: `${name} is named and found`, late };
    } else for (const id of own) possible.add(id);
  }
  if (named.size > 0) return { fault: `degraded: ${[...named].join(', ')}`, late };
  if (new Set(ids).size !== ids.length) return { fault: 'an id twice', late };
  const [strange] = ids.filter((id) => !possible.has(id));
  if (strange !== undefined) return { fault: `${strange} was not found`, late };
  const isWhole = late > 0 || asked.some(({ behaviour }) => behaviour.counts === 'partial');
  const expected = Math.min(possible.size, most, PAGE);
  return isWhole || ids.length === expected ? { late } : { fault: `${ids.length} ids of ${expected}`, late };
}

function postJson(url: string, body: string): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

export const retrieval: Proof = {
  name: 'retrieval',
  page: 'candidates.md',
  summary: 'random retrievers, timeouts and failures of engines: what is refused, missing or not reported',
  run: async ({ short }) => {
    const [requests, pipelines] = short ? [200, 10] : [10_000, 150];
    const seed = 20_261_126;
    const random = new Random(seed);
    const engine = await startEngine(undefined, 2 * Math.max(...TIMEOUTS));
    const drawn = Array.from({ length: pipelines }, (_, at) => drawPipeline(at, engine.port, random));
    const root = await writeProject({
      'schemas/entities/product.yaml': 'entity: product\n',
      ...Object.fromEntries(drawn.map(({ name, yaml }) => [`pipelines/${name}.yaml`, yaml])),
    });
    const service = await startProcess(['--project', root, '--port', '0', '--store', 'embedded'], {
      MILLRACE_MODEL_HOSTS: `127.0.0.1:${engine.port},127.0.0.1:${NO_SERVER}`,
      // Requests wait for engines; this proof is not about load that is shed.
      MILLRACE_QUEUE_MS: '30000',
    });
    const faults: string[] = [];
    const seen = new Map<string, number>(Object.keys(ENGINE_BEHAVIOURS).map((name) => [name, 0]));
    const names = [...seen.keys()];
    const answering = names.filter((name) => ENGINE_BEHAVIOURS[name]?.counts !== undefined);
    const count = { sent: 0, refused: 0, shed: 0, degraded: 0, late: 0 };
    const times: number[] = [];
    /** Milliseconds in which this process could not run, because the machine has other work. */
    let stalled = 0;
    let tick = performance.now();
    const watch = setInterval(() => {
      const now = performance.now();
      stalled += Math.max(0, now - tick - 2 * TICK_MS);
      tick = now;
    }, TICK_MS);
    const client = async (): Promise<void> => {
      while (count.sent < requests) {
        const number = count.sent++;
        const pipeline = drawn[number % drawn.length];
        if (pipeline === undefined) throw new Error('no pipeline is drawn');
        const does = pipeline.retrievers.flatMap((retriever) => {
          if (random.chance(0.1)) return [];
          const from = random.chance(0.4) ? answering : names;
          const name = from[random.between(0, from.length - 1)] ?? '';
          seen.set(name, (seen.get(name) ?? 0) + 1);
          return [{ ...retriever, does: name, behaviour: ENGINE_BEHAVIOURS[name] as EngineBehaviour }];
        });
        const body = JSON.stringify(Object.fromEntries(does.map(({ name, does: what }) => [name, what])));
        const [began, stalledBefore] = [performance.now(), stalled];
        const response = await postJson(`${service.url}/api/v1/${pipeline.name}`, body);
        const json = (await response.json()) as {
          code?: unknown;
          ranked_candidates?: { candidate_id: string }[];
        };
        const wholeMs = performance.now() - began;
        const ms = wholeMs - (stalled - stalledBefore);
        const header = response.headers.get('millrace-degraded');
        const { fault, late } = judge(pipeline, does, {
          status: response.status,
          code: json.code,
          ids: (json.ranked_candidates ?? []).map(({ candidate_id: id }) => id),
          degraded: header === null ? [] : header.split(', '),
          ms,
          wholeMs,
        });
        times.push(ms - pipeline.timeMs);
        count.late += late;
        if (json.code === 'overloaded' || json.code === 'deadline_exceeded') count.shed++;
        else if (response.status === 503) count.refused++;
        else if (header !== null) count.degraded++;
        if (fault !== undefined) faults.push(`${pipeline.name} ${body}: ${fault}`);
      }
    };
    try {
      for (const { name } of drawn) await postJson(`${service.url}/api/v1/${name}`, '{"candidates":[]}');
      await Promise.all(Array.from({ length: CLIENTS }, client));
    } finally {
      clearInterval(watch);
      service.child.kill('SIGTERM');
      await service.ended;
      await engine.close();
      await rm(root, { recursive: true, force: true });
    }
    for (const fault of faults.slice(0, 10)) console.log(fault);
    const unseen = [...seen].flatMap(([name, times]) => (times === 0 ? [name] : []));
    const beyond = Math.max(...times, 0);
    const latest = beyond === 0 ? 'none' : `${Math.ceil(beyond)} ms`;
    console.log(`${requests} requests, ${faults.length} faults, ${count.late} late although prompt`);
    return {
      markdown: `| requests | pipelines | behaviours | wrong | 503, no engine | 503, busy | degraded | beyond the time limit |
| -: | -: | -: | -: | -: | -: | -: | -: |
| ${requests} | ${pipelines} | ${seen.size} | ${faults.length} | ${count.refused} | ${count.shed} | ${count.degraded} | ${latest} |`,
      missed: [
        ...(faults.length === 0 ? [] : [`wrong answers: at most 0, got ${faults.length}`]),
        ...(count.shed <= MOST_SHED * requests
          ? []
          : [`refused because the machine is busy: at most ${MOST_SHED * requests}, got ${count.shed}`]),
        ...(unseen.length === 0 ? [] : [`behaviours that were not drawn: ${unseen.join(', ')}`]),
        ...(count.refused > 0 && count.degraded > 0 ? [] : ['no request was refused or degraded']),
      ],
    };
  },
};
