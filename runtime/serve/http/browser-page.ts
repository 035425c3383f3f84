import accepts from 'accepts';
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendPage } from './respond.js';
import type { Handler, Route } from './route.js';

const STYLE =
  ':root{color-scheme:light dark;background:Canvas;font:1rem/1.5 system-ui,sans-serif}main{max-width:40rem;margin:2rem auto;padding:0 1rem}' +
  'p{overflow-wrap:anywhere}li{margin:.5rem 0}a{color:LinkText}';
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Whether a request prefers a page to JSON, as those of browsers do. */
export function wantsPage(req: IncomingMessage): boolean {
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  return (
    isRead && accepts(req).type(['application/problem+json', 'application/json', 'text/html']) === 'text/html'
  );
}

/** A page of the service: its path and its name. */
export type Link = readonly [path: string, title: string];

/** @param needsKey whether the service has keys: the links then lead only to what is open without one */
export function linksOf(routes: readonly Route[], needsKey: boolean): readonly Link[] {
  return routes.flatMap(({ path, title, scope }) =>
    title === undefined || (needsKey && scope !== 'none') ? [] : [[path, title] as const],
  );
}

/** Answers `/` to a browser. Other clients get the problem document of an unknown path. */
export function answerHome(links: readonly Link[]): Handler {
  return ({ res }) =>
    sendBrowserPage(res, 200, 'Millrace', ['This service ranks. Programs call it over HTTP.'], links);
}

/**
 * Sends a small page that leads to the pages of the service.
 * @param texts plain text, one a paragraph
 */
export function sendBrowserPage(
  res: ServerResponse,
  status: number,
  title: string,
  texts: readonly string[],
  links: readonly Link[],
): void {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>${escape(title)} – Millrace</title>
<link rel="icon" href="data:," />
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escape(title)}</h1>
${texts.map((text) => `<p>${escape(text)}</p>`).join('\n')}
<ul>${links.map(([path, name]) => `<li><a href="${path}">${escape(name)}</a></li>`).join('')}</ul>
</main>
</body>
</html>
`;
  sendPage(res, html, POLICY, status);
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);
}
