import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { momentText, say } from './campaign-language.js';
import { messageOf, previewLinks, revokeLink, sharePreview } from './service.js';
import type { OpenCampaign } from './use-campaign.js';

type Links = Awaited<ReturnType<typeof previewLinks>>;

/** Makes a link that shows the page to a colleague without a key, and takes links back. */
export function Share({
  edited: { draft, draftName, pipeline, request, stored },
}: {
  readonly edited: OpenCampaign;
}): JSX.Element | null {
  const [made, setMade] = useState('');
  const [links, setLinks] = useState<Links>([]);
  const [said, setSaid] = useState('');
  const [problem, setProblem] = useState('');
  if (draft === undefined || pipeline === undefined || request === undefined) return null;
  const act = async (work: () => Promise<string>): Promise<void> => {
    setProblem('');
    try {
      setSaid(await work());
      setLinks((await previewLinks()).filter((one) => one.draft === draftName && one.state === 'valid'));
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const share = (): Promise<void> =>
    act(async () => {
      const at = request.preview?.['at'];
      const { link, expires } = await sharePreview({
        draft: draftName,
        pipeline: pipeline.name,
        request: JSON.parse(request.body) as object,
        ...(at === undefined ? {} : { at }),
      });
      setMade(new URL(`/workbench/preview#${link}`, location.href).href);
      return say.linkMade(momentText(expires));
    });
  const copy = (): Promise<void> =>
    act(async () => {
      await navigator.clipboard.writeText(made);
      return say.copied;
    });
  const revoke = (link: string): Promise<void> =>
    act(async () => {
      await revokeLink(link);
      setMade('');
      return say.linkRevoked;
    });
  return (
    <div id="share">
      <div class="row">
        <button type="button" onClick={() => void share()}>
          {say.share}
        </button>
        {made !== '' && (
          <>
            <input
              type="text"
              readOnly
              aria-label={say.link}
              value={made}
              onFocus={({ currentTarget }) => currentTarget.select()}
            />
            <button type="button" onClick={() => void copy()}>
              {say.copy}
            </button>
          </>
        )}
        <span role="status">{said}</span>
      </div>
      {problem !== '' && (
        <p class="failed" role="alert">
          {problem}
        </p>
      )}
      {links.length > 0 && (
        <ul class="plain" id="links">
          {links.map(({ id, at, author, expires }) => (
            <li>
              {say.linkOf(
                author ?? say.somebody,
                at === null ? '' : momentText(at, stored.time_zone),
                momentText(expires),
              )}{' '}
              <button
                type="button"
                class="link"
                aria-label={say.actOf(say.revoke, id)}
                onClick={() => void revoke(id)}
              >
                {say.revoke}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
