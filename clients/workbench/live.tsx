import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { InstanceList, ShownInstance } from '../../runtime/serve/metrics/live-meter.js';
import type { ComparisonAnswer, ComparisonState } from '../../runtime/serve/compare/comparison.js';
import { momentText } from './campaign-language.js';
import { numberText } from './language.js';
import { say } from './live-language.js';
import { Loaded, Table } from './parts.js';
import { comparison, instances } from './service.js';

/** How often the instances are asked for, and a report of an experiment is looked at, milliseconds. */
const EVERY_MS = 2000;

/** The screen of all instances. */
export function Live({ refused }: { readonly refused: (error: unknown) => string }): JSX.Element {
  const [list, setList] = useState<InstanceList>();
  const [failure, setFailure] = useState('');
  useEffect(() => {
    let timer = 0;
    const look = async (): Promise<void> => {
      try {
        if (!document.hidden) setList(await instances());
        setFailure('');
      } catch (error) {
        setFailure(refused(error));
      }
      timer = window.setTimeout(() => void look(), EVERY_MS);
    };
    void look();
    return () => clearTimeout(timer);
  }, []);
  return (
    <Loaded of={list} failure={failure} loading={say.loading} kind="campaigns compare live">
      {({ instances: all, at }) =>
        all.length === 0 ? (
          <p role="status">{say.none}</p>
        ) : (
          <>
            <Instances all={all} now={at} />
            <Pipelines all={all} />
            <Sources all={all} now={at} />
            <Arms all={all} refused={refused} />
          </>
        )
      }
    </Loaded>
  );
}

const isCurrent = ({ state }: ShownInstance): boolean => state === 'current';
const rate = (value: number): string => numberText(value, 3);
/** What is not known is no zero. */
const orUnknown = (value: number | null): string => (value === null ? say.unknown : numberText(value, 3));

function Age({ time, now }: { readonly time: string | null; readonly now: string }): JSX.Element {
  if (time === null) return <span class="dim">{say.never}</span>;
  return (
    <time dateTime={time}>
      {say.ago(Math.max(0, Math.round((Date.parse(now) - Date.parse(time)) / 1000)))}
    </time>
  );
}

function Instances({
  all,
  now,
}: {
  readonly all: readonly ShownInstance[];
  readonly now: string;
}): JSX.Element {
  const stale = all.filter((one) => !isCurrent(one)).length;
  return (
    <section>
      <h2>{say.instances}</h2>
      <p>
        {say.counts(all.length - stale, stale)} {say.overWindow}
      </p>
      <Table
        head={[
          say.instance,
          say.state,
          say.heard,
          say.requests,
          say.refused,
          say.feedback,
          say.lastFeedback,
          say.lastLedger,
          say.version,
          say.started,
        ]}
        numbers={[3, 4, 5]}
        rows={all.map((one) => [
          <span class="id">{one.instance}</span>,
          <strong class={isCurrent(one) ? 'up' : 'down'}>{isCurrent(one) ? say.current : say.stale}</strong>,
          <Age time={one.seen} now={now} />,
          ...(isCurrent(one)
            ? [
                rate(one.pipelines.reduce((sum, { requests }) => sum + requests, 0)),
                rate(one.refused),
                rate(one.feedback),
              ]
            : [say.unknown, say.unknown, say.unknown]),
          <Age time={one.last_feedback} now={now} />,
          <Age time={one.last_ledger_write} now={now} />,
          <span class="id">{one.project}</span>,
          momentText(one.started),
        ])}
      />
    </section>
  );
}

function Pipelines({ all }: { readonly all: readonly ShownInstance[] }): JSX.Element {
  const rows = all
    .filter(isCurrent)
    .flatMap(({ instance, pipelines }) =>
      pipelines.map(({ pipeline, requests, failed, degraded, p50, p99 }) => [
        pipeline,
        <span class="id">{instance}</span>,
        rate(requests),
        rate(failed),
        rate(degraded),
        orUnknown(p50),
        orUnknown(p99),
      ]),
    );
  return (
    <section class="part">
      <h2>{say.pipelines}</h2>
      <Table
        head={[say.pipeline, say.instance, say.requests, say.failed, say.degraded, say.p50, say.p99]}
        numbers={[2, 3, 4, 5, 6]}
        rows={rows}
      />
    </section>
  );
}

function Sources({
  all,
  now,
}: {
  readonly all: readonly ShownInstance[];
  readonly now: string;
}): JSX.Element {
  const rows = all
    .filter(isCurrent)
    .flatMap(({ instance, sources }) =>
      sources.map(({ source, is_up: isUp, lag, last }) => [
        source,
        <span class="id">{instance}</span>,
        <strong class={isUp ? 'up' : 'down'}>{isUp ? say.answers : say.lost}</strong>,
        orUnknown(lag),
        <Age time={last} now={now} />,
      ]),
    );
  return (
    <section class="part">
      <h2>{say.sources}</h2>
      {rows.length === 0 ? (
        <p class="dim">{say.noSources}</p>
      ) : (
        <Table
          head={[say.source, say.instance, say.state, say.lag, say.lastSettled]}
          numbers={[3]}
          rows={rows}
        />
      )}
    </section>
  );
}

interface Interval {
  readonly lower: number | null;
  readonly upper: number | null;
}
interface EffectResult {
  readonly difference?: number | null;
  readonly fixed?: Interval;
  readonly always_valid?: Interval;
}
/** What `experiments report` says of an arm, as far as it is shown here. */
interface ArmResult extends EffectResult {
  readonly arm: string;
  /** If the metric was adjusted by the past, this decides. */
  readonly adjusted?: EffectResult;
  readonly verdict?: 'better' | 'worse' | 'undecided';
}
interface Effects {
  readonly hasEnded: boolean;
  readonly arms: ReadonlyMap<string, ArmResult>;
}

function Arms({
  all,
  refused,
}: {
  readonly all: readonly ShownInstance[];
  readonly refused: (error: unknown) => string;
}): JSX.Element {
  const counts = new Map<string, Map<string, number>>();
  for (const { experiment, arm, requests } of all.filter(isCurrent).flatMap(({ arms }) => arms)) {
    const arms = counts.get(experiment) ?? new Map<string, number>();
    counts.set(experiment, arms.set(arm, (arms.get(arm) ?? 0) + requests));
  }
  return (
    <section class="part">
      <h2>{say.arms}</h2>
      {counts.size === 0 && <p class="dim">{say.noArms}</p>}
      {[...counts].map(([experiment, arms]) => (
        <Experiment key={experiment} name={experiment} arms={arms} refused={refused} />
      ))}
    </section>
  );
}

function Experiment({
  name,
  arms,
  refused,
}: {
  readonly name: string;
  readonly arms: ReadonlyMap<string, number>;
  readonly refused: (error: unknown) => string;
}): JSX.Element {
  const [effects, setEffects] = useState<Effects>();
  const [isBusy, setIsBusy] = useState(false);
  const [failure, setFailure] = useState('');
  const read = async (): Promise<void> => {
    setIsBusy(true);
    setFailure('');
    try {
      setEffects(await effectsOf(name));
    } catch (error) {
      setFailure(refused(error));
    }
    setIsBusy(false);
  };
  const effectText = (arm: string): string => {
    const found = effects?.arms.get(arm);
    const { difference = null, fixed, always_valid: always } = found?.adjusted ?? found ?? {};
    if (difference === null) return say.unknown;
    const { lower = null, upper = null } = (effects?.hasEnded === true ? fixed : always) ?? {};
    return `${numberText(difference, 4)} [${orUnknown(lower)}; ${orUnknown(upper)}]`;
  };
  return (
    <section aria-busy={isBusy}>
      <h3>{name}</h3>
      <Table
        head={[say.arm, say.sinceStart, ...(effects === undefined ? [] : [say.effect, say.verdict])]}
        numbers={[1, 2]}
        rows={[...arms].map(([arm, requests]) => {
          const verdict = effects?.arms.get(arm)?.verdict;
          const known = [effectText(arm), verdict === undefined ? '' : say.verdicts[verdict]];
          return [arm, numberText(requests), ...(effects === undefined ? [] : known)];
        })}
      />
      <p>
        <button type="button" disabled={isBusy} onClick={() => void read()}>
          {say.effects(name)}
        </button>
      </p>
      {failure !== '' && (
        <p class="failed" role="alert">
          {failure}
        </p>
      )}
    </section>
  );
}

/** Has the report of an experiment made. Rejects with what is wrong with it. */
async function effectsOf(experiment: string): Promise<Effects> {
  const { comparison: id } = await comparison<ComparisonState>('start', { experiment });
  for (;;) {
    const { state, problem, result } = await comparison<ComparisonAnswer>('get', { comparison: id });
    if (state === 'done') {
      const { ended, arms } = result as { readonly ended: boolean; readonly arms: readonly ArmResult[] };
      return { hasEnded: ended, arms: new Map(arms.map((one) => [one.arm, one])) };
    }
    if (state !== 'waiting' && state !== 'running') throw new Error(problem ?? state);
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS / 4));
  }
}
