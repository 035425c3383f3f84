import { render, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { WorkbenchProject } from '../../runtime/serve/http/routes/workbench.js';
import { text } from './language.js';
import { Campaigns } from './campaigns.js';
import { Compare } from './compare.js';
import { Judge } from './judge.js';
import { Live } from './live.js';
import { Rank } from './rank.js';
import { messageOf, projectNow, Refusal, sendKey, whoAmI } from './service.js';

/** How often the page asks for the state of the project, milliseconds. */
const EVERY_MS = 1000;

/** What the service said of its project, and when it does not answer, why. */
interface Known {
  readonly project?: WorkbenchProject;
  readonly refusal?: Refusal;
  readonly isAway?: boolean;
}

/** Asks for the state of the project, while the page is visible. */
function useProject(): readonly [Known, () => Promise<void>] {
  const [known, setKnown] = useState<Known>({});
  const look = async (): Promise<void> => {
    try {
      const project = await projectNow();
      setKnown({ project });
    } catch (error) {
      const why = error instanceof Refusal ? { refusal: error } : { isAway: true };
      setKnown(({ project }) => ({ ...(project === undefined ? {} : { project }), ...why }));
    }
  };
  useEffect(() => {
    let timer = 0;
    const follow = async (): Promise<void> => {
      if (!document.hidden) await look();
      timer = window.setTimeout(() => void follow(), EVERY_MS);
    };
    // A session has a token for what the page sends. Without a session, the person types a key.
    void whoAmI()
      .catch(() => undefined)
      .then(follow);
    return () => clearTimeout(timer);
  }, []);
  return [known, look];
}

const SCREENS = ['rank', 'campaigns', 'compare', 'judge', 'live'] as const;

/** The screen that the address names after `#`; without a name, the first one. */
function useScreen(): (typeof SCREENS)[number] {
  const read = (): (typeof SCREENS)[number] =>
    SCREENS.find((name) => name === location.hash.slice(1).split('?')[0]) ?? SCREENS[0];
  const [screen, setScreen] = useState(read);
  useEffect(() => {
    const follow = (): void => setScreen(read());
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, []);
  return screen;
}

function Workbench(): JSX.Element {
  const [{ project, refusal, isAway = false }, look] = useProject();
  const screen = useScreen();
  const [needsKey, setNeedsKey] = useState(false);
  const refused = (error: unknown): string => {
    if (error instanceof Refusal && (error.status === 401 || error.status === 403)) setNeedsKey(true);
    return messageOf(error);
  };
  useEffect(() => {
    if (refusal !== undefined) refused(refusal);
  }, [refusal?.status]);
  // Judges need not see the project.
  const judgesOnly = screen === 'judge' && refusal?.status === 403;
  const state = isAway
    ? text.noAnswer
    : project === undefined || refusal !== undefined
      ? ''
      : text.version(project.version, project.watches);
  return (
    <>
      <header>
        <h1>{text.workbench}</h1>
        <nav aria-label={text.screens}>
          {SCREENS.map((name) => (
            <a href={`#${name}`} aria-current={name === screen ? 'page' : undefined}>
              {text[name]}
            </a>
          ))}
        </nav>
        <span>{project?.name}</span>
        <span id="state" role="status">
          {state}
        </span>
      </header>
      {project?.reload?.outcome === 'failed' && (
        <section id="problems">
          <h2>{text.notInService}</h2>
          <p>{text.correct}</p>
          <pre id="diagnostics">{project.reload.text}</pre>
        </section>
      )}
      <main>
        {needsKey && !judgesOnly && (
          <div class="page">
            {refusal !== undefined && <p role="alert">{refusalText(refusal)}</p>}
            <KeyField onKey={() => void look()} />
          </div>
        )}
        {refusal !== undefined && !needsKey && !judgesOnly && (
          <p class="page" role="alert">
            {refusal.message}
          </p>
        )}
        {project === undefined && refusal === undefined && (
          <p class="page" role="status">
            {isAway ? '' : text.loading}
          </p>
        )}
        {(project !== undefined || judgesOnly) && screen === 'judge' && <Judge refused={refused} />}
        {project !== undefined && screen === 'rank' && <Rank project={project} refused={refused} />}
        {project !== undefined && screen === 'campaigns' && <Campaigns project={project} refused={refused} />}
        {project !== undefined && screen === 'compare' && <Compare project={project} refused={refused} />}
        {project !== undefined && screen === 'live' && <Live refused={refused} />}
      </main>
    </>
  );
}

/** What a person can do without a key, or with one that may not see the project. */
function refusalText({ status, message, problem: { code } }: Refusal): string {
  if (code === 'key_required') return text.needsKey;
  return status === 403 ? `${text.lacksScope} ${message}` : message;
}

function KeyField({ onKey }: { readonly onKey: () => void }): JSX.Element {
  return (
    <p>
      <label>
        {text.key}{' '}
        <input
          id="key"
          type="password"
          autocomplete="off"
          onChange={({ currentTarget }) => {
            sendKey(currentTarget.value);
            onKey();
          }}
        />
      </label>
    </p>
  );
}

render(<Workbench />, document.body);
