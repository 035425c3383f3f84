import { render, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { text } from './language.js';
import { endSession, messageOf, openSession, Refusal, whoAmI } from './service.js';

/** What the page says, and what its button does. */
interface Offer {
  readonly said: string;
  readonly label?: string;
  readonly work?: () => Promise<void>;
}

/** A link of `millrace keys invite` has the invitation after `#`. It is used by a click, since programs that check mail open links. */
const invitation = location.hash.slice(1);
// A link that is opened in this tab changes nothing but the hash.
addEventListener('hashchange', () => location.reload());

function Session(): JSX.Element {
  const [{ said, label, work }, setOffer] = useState<Offer>({ said: '…' });
  const [isBusy, setBusy] = useState(false);
  useEffect(() => void offer().then(setOffer), []);
  const act = async (): Promise<void> => {
    setBusy(true);
    await work?.().catch((error: unknown) =>
      setOffer((before) => spent(error) ?? { ...before, said: messageOf(error) }),
    );
    setBusy(false);
  };
  return (
    <main class="page">
      <h1>{text.signIn}</h1>
      <p id="said" role="status">
        {said}
      </p>
      {label !== undefined && (
        <button id="act" type="button" disabled={isBusy} onClick={() => void act()}>
          {label}
        </button>
      )}
    </main>
  );
}

/** Why an invitation opens nothing, also if it is tried again; undefined for any other failure. */
function spent(error: unknown): Offer | undefined {
  const { code, detail = '' } = error instanceof Refusal ? error.problem : {};
  if (code !== 'invitation_invalid') return undefined;
  if (detail.includes('opened a session')) return { said: text.invitationUsed };
  if (/is (?:expired|revoked)/.test(detail)) return { said: text.invitationOver };
  return detail.includes('has this text') ? { said: text.invitationUnknown } : undefined;
}

async function offer(): Promise<Offer> {
  if (invitation !== '')
    return {
      said: text.invited,
      label: text.signIn,
      work: async () => {
        await openSession(invitation);
        // Neither the history nor a reload has the invitation again.
        history.replaceState(null, '', '/session');
        location.assign('/workbench');
      },
    };
  try {
    const { name, until } = await whoAmI();
    if (until === undefined) return { said: text.noKeys };
    const end = new Date(until).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
    return {
      said: text.signedIn(name, end),
      label: text.signOut,
      work: async () => {
        await endSession();
        location.reload();
      },
    };
  } catch (error) {
    return {
      said: error instanceof Refusal && error.status === 401 ? text.signedOut : messageOf(error),
    };
  }
}

render(<Session />, document.body);
