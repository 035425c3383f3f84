import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { COMPILED } from '../../core/locations.js';
import { sendText } from '../respond.js';
import type { GetRoute } from '../route.js';

/** The built bundle of redoc, next to the compiled code. */
const BUNDLE_FILE = join(COMPILED, 'assets', 'redoc.standalone.js');
/** The only image that the bundle loads from another host. Without it, redoc shows only its name. */
const FOREIGN_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';
const NO_PICTURE = 'data:,';

/** The script of the page /redoc. Browsers cache it for a day and then revalidate it. */
export const redocBundle: GetRoute = {
  path: '/redoc/redoc.standalone.js',
  scope: 'any',
  folder: '/redoc/',
  method: 'GET',
  class: 'explain',
  audience: 'operators',
  handler: () => {
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
  },
};

interface Bundle {
  readonly text: string;
  readonly tag: string;
}

async function readBundle(): Promise<Bundle> {
  const text = (await readFile(BUNDLE_FILE, 'utf8')).replaceAll(FOREIGN_LOGO, NO_PICTURE);
  return { text, tag: `"${createHash('sha256').update(text).digest('base64url')}"` };
}
