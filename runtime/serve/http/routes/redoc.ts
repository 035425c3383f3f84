import { createHash } from 'node:crypto';
import { redocHtml } from 'redoc-express/dist/redoc-html-template.js';
import { sendPage } from '../respond.js';
import type { PageRoute } from '../route.js';
import { openapi } from './openapi.js';
import { redocBundle } from './redoc-bundle.js';

const FONTS = 'system-ui, sans-serif';
const OPTIONS = {
  requiredPropsFirst: true,
  jsonSamplesExpandLevel: 'all',
  theme: {
    typography: {
      fontFamily: FONTS,
      headings: { fontFamily: FONTS },
      code: { fontFamily: 'ui-monospace, monospace' },
    },
  },
};

/**
 * The interactive reference: the page of redoc-express. This service replaces every resource that the page would load
 * from other hosts. A content security policy makes the browser block the rest.
 */
export const redoc: PageRoute = {
  path: '/redoc',
  scope: 'any',
  folder: '/redoc/',
  method: 'GET',
  class: 'explain',
  audience: 'operators',
  title: 'The reference of the API',
  page: () => {
    const page = localPage();
    const policy = contentPolicy(page);
    return (_req, res) => {
      sendPage(res, page, policy);
    };
  },
};

function localPage(): string {
  const page = redocHtml({ title: 'Millrace API reference', specUrl: openapi.path, redocOptions: OPTIONS })
    .replace(/<link href="https:[^>]*>/g, '<link rel="icon" href="data:," />')
    .replace('<html>', '<html lang="en">')
    .replaceAll(/(<\/?)div\b/g, '$1main')
    .replace(/<script nonce='' src="https:[^"]*">/, `<script src="${redocBundle.path}">`);
  if (/https?:/.test(page)) throw new Error('redoc-express has a new page; adapt what is replaced in it');
  return page;
}

/**
 * Allows inline styles, because redoc writes them into the page, and workers from blobs, because redoc's search creates
 * one from text.
 */
function contentPolicy(page: string): string {
  const inline = [...page.matchAll(/<script>([^]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${inline.join(' ')}`,
    'worker-src blob:',
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
