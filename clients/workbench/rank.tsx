import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Explanation } from '../../runtime/request/pipeline/explain/explanation.js';
import type { WorkbenchProject } from '../../runtime/serve/http/routes/workbench.js';
import { Answer } from './answer.js';
import { placesOf, type Places } from './cards.js';
import { Fields, withField, type Typed } from './fields.js';
import { text } from './language.js';
import { momentText } from './campaign-language.js';
import { Lacks, OpenLogged } from './rank-keep.js';
import { say } from './rank-language.js';
import { Params, type Tried } from './rank-params.js';
import type { LoggedRanking } from '../../runtime/serve/compare/workshop-answers.js';
import { explain, loggedRanking, type SentRequest } from './service.js';

type Described = WorkbenchProject['pipelines'][number];

/** A request and its answer, beside the places of the answer before, if that was to the same request. */
interface Shown {
  readonly request: SentRequest;
  readonly explanation: Explanation;
  readonly before: Places | undefined;
  /** The page with the params of the file. */
  readonly base: Explanation;
}

/** What a person has chosen and typed. */
interface Draft {
  readonly pipeline: string;
  readonly typed: Typed;
  readonly body: string;
}

/** The screen that sends a request, and shows the page with the reasons. */
export function Rank({
  project,
  refused,
}: {
  readonly project: WorkbenchProject;
  /** @returns what the person reads */
  readonly refused: (error: unknown) => string;
}): JSX.Element {
  const [draft, setDraft] = useState<Draft>(() => draftOf(chosenAtFirst(project)));
  const [shown, setShown] = useState<Shown>();
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [again, setAgain] = useState(true);
  const sent = useRef(0);
  const [tried, setTried] = useState<Tried>({});
  const [logged, setLogged] = useState<LoggedRanking>();
  /** A slider moves faster than answers come: while one is on its way, only the last values wait. */
  const trial = useRef<{ isSent: boolean; next?: Tried }>({ isSent: false });
  const one = project.pipelines.find(({ name }) => name === draft.pipeline);

  /** Of several requests in flight, only the answer to the last is shown; an old answer never stays beside an error. */
  const send = async (): Promise<void> => {
    if (one === undefined) return;
    const request = { path: one.explain, body: draft.body };
    const number = ++sent.current;
    setTried({});
    setProblem('');
    setBusy(true);
    remember(project, draft);
    try {
      const explanation = await explain(request);
      if (number !== sent.current) return;
      setShown((last) => ({
        ...{ request, explanation, base: explanation },
        before: logged === undefined ? placesBefore(last, request) : loggedPlaces(logged),
      }));
    } catch (error) {
      if (number !== sent.current) return;
      setShown(undefined);
      setProblem(refused(error));
    }
    setBusy(false);
  };

  /** Ranks the request that is shown with other values of params, and shows what they move. */
  const tryParams = async (values: Tried): Promise<void> => {
    setTried(values);
    if (trial.current.isSent || shown === undefined) {
      trial.current.next = values;
      return;
    }
    trial.current.isSent = true;
    const number = sent.current;
    const { base } = shown;
    for (let next: Tried | undefined = values; next !== undefined; next = trial.current.next) {
      delete trial.current.next;
      const request = { ...shown.request, params: next };
      try {
        const isFile = Object.keys(next).length === 0;
        const explanation = isFile ? base : await explain(request);
        if (number !== sent.current) break;
        setProblem('');
        setShown({ request, explanation, base, before: placesOf(base) });
      } catch (error) {
        if (number === sent.current) setProblem(refused(error));
      }
    }
    trial.current = { isSent: false };
  };
  const openLogged = async (id: string): Promise<void> => {
    try {
      const found = await loggedRanking(id);
      const next = project.pipelines.find(({ name }) => name === found.pipeline);
      setShown(undefined);
      setProblem('');
      setLogged(found);
      setDraft({
        ...draftOf(next),
        typed: typedOf(next, found.body),
        body: JSON.stringify(found.body, null, 2),
      });
    } catch (error) {
      setProblem(refused(error));
    }
  };
  useEffect(() => {
    if (logged !== undefined) void send();
  }, [logged]);

  useEffect(() => {
    if (Object.values(draft.typed).some((value) => value !== '')) void send();
  }, [draft.pipeline]);
  const version = useRef(project.version);
  useEffect(() => {
    if (version.current === project.version) return;
    version.current = project.version;
    if (one === undefined) choose(project.pipelines[0]);
    else if (sent.current > 0 && again) void send();
  }, [project.version]);

  const choose = (next: Described | undefined): void => {
    setShown(undefined);
    setLogged(undefined);
    setDraft(draftOf(next));
  };
  const edit = (body: unknown, typed = draft.typed): void => {
    setLogged(undefined);
    setDraft({ ...draft, typed, body: JSON.stringify(body, null, 2) });
  };
  const fields = one?.fields ?? [];
  const query = queryOf(draft.typed);
  /** Not rendered again while a slider moves or the state of the project is read. */
  const answered = useMemo(
    () =>
      shown === undefined ? undefined : (
        <Answer {...shown} logged={logged} query={query} canKeep={project.elsewhere === null} />
      ),
    [shown, logged, query, project.elsewhere],
  );
  const button = fields.length === 0 ? text.explain : text.search;
  return (
    <>
      <div id="ask">
        <form
          id="request"
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <div class="row">
            <label class="over">
              {text.pipeline}{' '}
              <select
                id="pipeline"
                value={draft.pipeline}
                onChange={({ currentTarget }) =>
                  choose(project.pipelines.find(({ name }) => name === currentTarget.value))
                }
              >
                {project.pipelines.map(({ name }) => (
                  <option>{name}</option>
                ))}
              </select>
            </label>
            <Fields
              fields={fields}
              typed={draft.typed}
              onInput={(field, value) =>
                edit(withField(parsed(draft.body) ?? { ...one?.body }, field, value), {
                  ...draft.typed,
                  [field.parameter]: value,
                })
              }
            />
            <button class="main" type="submit">
              {button}
            </button>
          </div>
          <div class="row">
            <span id="route">{one === undefined ? '' : `POST ${one.route}`}</span>
            <label class="check">
              <input
                type="checkbox"
                checked={again}
                onChange={({ currentTarget }) => setAgain(currentTarget.checked)}
              />{' '}
              {text.sendAgain}
            </label>
          </div>
          <details open={fields.length === 0}>
            <summary>{text.asJson}</summary>
            <label for="body">{text.request}</label>
            <textarea
              id="body"
              rows={14}
              spellcheck={false}
              autocomplete="off"
              value={draft.body}
              onInput={({ currentTarget }) => {
                setLogged(undefined);
                setDraft({ ...draft, body: currentTarget.value });
              }}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
                event.preventDefault();
                void send();
              }}
            />
            <p>
              {text.samples}:{' '}
              {one?.samples.map(({ title, body }, at) => (
                <>
                  {at === 0 ? '' : ', '}
                  <button type="button" class="link" onClick={() => edit(body)}>
                    {title}
                  </button>
                </>
              ))}
            </p>
            <p class="hint">{text.sendsIt}</p>
          </details>
          <p id="refused" role="alert">
            {problem}
          </p>
        </form>
        {project.elsewhere === null && project.hasLedger && (
          <OpenLogged onOpen={(id) => void openLogged(id)} />
        )}
        <Lacks {...project} />
      </div>
      {logged !== undefined && (
        <p class="hint lines" id="logged">
          {[say.loggedAt(logged.request_id, momentText(logged.at)), ...logged.notes].join('\n')}
        </p>
      )}
      {shown !== undefined && one !== undefined && one.params.length > 0 && (
        <Params
          params={one.params}
          tried={tried}
          used={shown.explanation.params}
          diff={shown.explanation.params_diff ?? ''}
          onTry={(values) => void tryParams(values)}
        />
      )}
      <section id="answer" aria-live="polite" aria-label={text.answer} aria-busy={isBusy}>
        {answered ?? (
          <>
            {isBusy ? <p role="status">{text.ranks}</p> : problem === '' && <p>{text.howToSearch(button)}</p>}
            <p class="hint">{text.noEffects}</p>
          </>
        )}
      </section>
    </>
  );
}

function chosenAtFirst({ pipelines }: WorkbenchProject): Described | undefined {
  const asked = new URLSearchParams(location.search).get('pipeline');
  return pipelines.find(({ name }) => name === asked) ?? pipelines[0];
}

/** The fields of a pipeline with the values that the address of the page has; else a request as JSON. */
function draftOf(one: Described | undefined): Draft {
  if (one === undefined) return { pipeline: '', typed: {}, body: '' };
  const { name, fields, body, samples } = one;
  const given = new URLSearchParams(location.search);
  const typed = Object.fromEntries(
    fields.map((field) => [field.parameter, given.get(field.parameter) ?? given.get(field.name) ?? '']),
  );
  const filled =
    fields.length === 0
      ? (samples[0]?.body ?? {})
      : fields.reduce<Record<string, unknown>>(
          (all, field) => withField(all, field, typed[field.parameter] ?? ''),
          { ...body },
        );
  return { pipeline: name, typed, body: JSON.stringify(filled, null, 2) };
}

/** Puts the values of the fields into the address of the page, so that it can be opened again. */
function remember({ pipelines }: WorkbenchProject, { pipeline, typed }: Draft): void {
  const address = new URLSearchParams(pipelines.length === 1 ? {} : { pipeline });
  for (const [name, value] of Object.entries(typed)) if (value !== '') address.set(name, value);
  history.replaceState(null, '', address.size === 0 ? location.pathname : `?${address.toString()}`);
}

function placesBefore(last: Shown | undefined, { path, body }: SentRequest): Places | undefined {
  if (last?.request.path !== path || last.request.body !== body) return undefined;
  return placesOf(last.explanation);
}

function loggedPlaces({ candidates }: LoggedRanking): Places {
  return new Map(
    candidates.flatMap(({ candidate_id: id, place }) => (place === null ? [] : [[id, place] as const])),
  );
}

/** What the fields of a pipeline show of a body. */
function typedOf(one: Described | undefined, body: Readonly<Record<string, unknown>>): Typed {
  const shown = (value: unknown): string =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  return Object.fromEntries(
    (one?.fields ?? []).map(({ parameter, name, key }) => {
      const value = body[name];
      const isEntity = key !== undefined && typeof value === 'object' && value !== null;
      return [parameter, shown(isEntity ? (value as Record<string, unknown>)[key] : value)];
    }),
  );
}

/** The query of a request, as the fields have it. */
function queryOf(typed: Typed): string {
  return (typed['q'] ?? typed['query'] ?? '').trim();
}

function parsed(body: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
