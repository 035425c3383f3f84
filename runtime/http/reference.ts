import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import { redocHtml } from 'redoc-express/dist/redoc-html-template.js';
import { COMPILED } from '../core/locations.js';
import { PATHS } from './paths.js';
import { sendText } from './respond.js';

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

/** The built bundle of redoc, beside the compiled code. */
const BUNDLE_FILE = join(COMPILED, 'assets', 'redoc.standalone.js');
/** The one picture that the bundle takes from elsewhere; without it redoc shows its name alone. */
const FOREIGN_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';
const NO_PICTURE = 'data:,';

/**
 * The interactive reference: the page of redoc-express with everything that it would load from elsewhere replaced by
 * this service's own, and a policy that has the browser refuse the rest.
 */
export function answerReference(): RequestHandler {
  const page = localPage();
  const policy = contentPolicy(page);
  return (_req, res) => {
    res.setHeader('Content-Security-Policy', policy);
    res.setHeader('Referrer-Policy', 'no-referrer');
    sendText(res, 200, 'text/html; charset=utf-8', page);
  };
}

/** The page's script. Browsers keep it for a day, then ask whether it changed. */
export function answerReferenceBundle(): RequestHandler {
  let bundle: Promise<Bundle> | undefined;
  return async (req, res) => {
    bundle ??= readBundle();
    const { text, tag } = await bundle.catch((error: unknown) => {
      bundle = undefined;
      throw error;
    });
    res.setHeader('Cache-Control', 'public, max-age=86400');
    res.setHeader('ETag', tag);
    if (req.fresh) {
      res.statusCode = 304;
      res.end();
    } else sendText(res, 200, 'text/javascript; charset=utf-8', text);
  };
}

function localPage(): string {
  const page = redocHtml({ title: 'Millrace API reference', specUrl: PATHS.openapi, redocOptions: OPTIONS })
    .replace(/<link href="https:[^>]*>/g, '<link rel="icon" href="data:," />')
    .replace(/<script nonce='' src="https:[^"]*">/, `<script src="${PATHS.referenceBundle}">`);
  if (/https?:/.test(page)) throw new Error('redoc-express has a new page; adapt what is replaced in it');
  return page;
}

/** redoc writes its styles into the page, and searches in a worker that it makes of a text. */
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

interface Bundle {
  readonly text: string;
  readonly tag: string;
}

async function readBundle(): Promise<Bundle> {
  const text = (await readFile(BUNDLE_FILE, 'utf8')).replaceAll(FOREIGN_LOGO, NO_PICTURE);
  return { text, tag: `"${createHash('sha256').update(text).digest('base64url')}"` };
}
