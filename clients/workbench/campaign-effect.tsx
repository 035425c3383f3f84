import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { DraftEffect, PlaceEffect } from '../../runtime/learn/judge/draft-effect.js';
import type { ComparisonAnswer, ComparisonState } from '../../runtime/serve/compare/comparison.js';
import { say } from './campaign-language.js';
import { productName } from './campaign-words.js';
import { numberText } from './language.js';
import { Table } from './parts.js';
import { comparison, messageOf, Refusal } from './service.js';

/** How many logged requests are ranked, and how often it is asked how far that is, milliseconds. */
const LOGGED = 1000;
const EVERY_MS = 300;

interface EffectProps {
  readonly draft: string;
  readonly pipeline: string;
  /** The time of the rules; undefined: now. */
  readonly at: string | undefined;
}

/** What a draft changes of logged requests. Only the process of the workbench knows. */
export function LoggedEffect({ draft, pipeline, at }: EffectProps): JSX.Element {
  const [found, setFound] = useState<ComparisonAnswer>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const asked = { id: '', isOver: false };
    const ask = async (): Promise<void> => {
      const body = { pipeline, draft, logged: LOGGED, ...(at === undefined ? {} : { at }) };
      ({ comparison: asked.id } = await comparison<ComparisonState>('start', body));
      while (!asked.isOver) {
        const answer = await comparison<ComparisonAnswer>('get', { comparison: asked.id });
        setFound(answer);
        asked.isOver ||= answer.state !== 'waiting' && answer.state !== 'running';
        if (!asked.isOver) await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      }
    };
    ask().catch((error: unknown) =>
      setProblem(
        error instanceof Refusal && error.problem.code === 'comparisons_elsewhere'
          ? say.loggedElsewhere
          : messageOf(error),
      ),
    );
    return () => {
      const isRunning = !asked.isOver && asked.id !== '';
      asked.isOver = true;
      if (isRunning) void comparison('stop', { comparison: asked.id }).catch(() => undefined);
    };
  }, []);
  if (problem !== '') return <p class="hint">{problem}</p>;
  if (found?.state === 'failed')
    return <p class="hint">{say.loggedFailed(say.wrong(found.problem ?? ''))}</p>;
  if (found?.state !== 'done')
    return (
      <p class="hint" aria-busy="true">
        {say.loggedRuns(Math.round(100 * (found?.progress ?? 0)))}
      </p>
    );
  return <Effect effect={found.result as DraftEffect} />;
}

function Effect({
  effect: { requests, changed, queries, places },
}: {
  readonly effect: DraftEffect;
}): JSX.Element {
  return (
    <div id="effect">
      <p>{say.loggedChange(shareText(changed, requests), requests)}</p>
      {queries.length > 0 && (
        <Table
          head={[say.loggedQuery, say.loggedRequests, say.loggedChanged, say.loggedPlaces]}
          rows={queries.map((one) => [one.query, one.requests, one.changed, one.places].map(String))}
          numbers={[1, 2, 3]}
        />
      )}
      {places.length > 0 && (
        <Table
          head={[say.campaign, say.product, say.loggedPlace, say.loggedShown, say.loggedOtherwise]}
          rows={places.map((one) => [
            one.campaign,
            productName(one.product),
            String(one.place),
            one.requests === 0
              ? say.loggedNever
              : say.loggedOf(shareText(one.shown, one.requests), one.requests),
            otherwiseText(one),
          ])}
          numbers={[2]}
        />
      )}
    </div>
  );
}

function otherwiseText({ unknown, requests, elsewhere, removed, winners }: PlaceEffect): string {
  if (unknown) return say.unknownId;
  const share = (count: number): string => shareText(count, requests);
  return [
    ...removed.map((one) => say.loggedRemoved(one.step, share(one.requests))),
    ...(elsewhere === 0 ? [] : [say.loggedElsewhereAt(share(elsewhere))]),
    ...winners
      .slice(0, 1)
      .map(({ product, rules }) =>
        say.loggedWinner(productName(product), rules.map((rule) => rule.split(':')[1]).join(', ')),
      ),
  ].join(' ');
}

function shareText(count: number, of: number): string {
  return of === 0 ? '–' : `${numberText(Math.round((1000 * count) / of) / 10)} %`;
}
