import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { COMPILED } from '../../ground/core/locations.js';
import { sendPage, sendText } from './respond.js';
import type { PageRoute } from './route.js';
import type { HttpServices } from './services.js';

interface Asset {
  readonly path: string;
  readonly folder: string;
  /** The file, below the folder `assets` next to the compiled code. */
  readonly file: string;
  readonly type: 'text/html' | 'text/javascript' | 'text/css';
  /** By default `none`: a browser cannot send a key when it opens a page. */
  readonly scope?: PageRoute['scope'];
  /** For a page: its content security policy. */
  readonly policy?: (services: Pick<HttpServices, 'imageHosts'>) => string;
  /** By default browsers ask each time, so that a page and its scripts are of one version. */
  readonly cache?: string;
  /** Changes the text before it is served. */
  readonly rewrite?: (text: string) => string;
}

/** A route that answers a file of the package. Such a file holds no data of the project. */
export function assetRoute(asset: Asset): PageRoute {
  const { path, folder, type, scope = 'none', policy, cache = 'no-cache' } = asset;
  return {
    path,
    scope,
    folder,
    method: 'GET',
    class: 'explain',
    audience: 'operators',
    page: (services) => {
      const rules = policy?.(services);
      let read: Promise<{ readonly text: string; readonly tag: string }> | undefined;
      return async (req, res) => {
        read ??= readAsset(asset, rules);
        const { text, tag } = await read.catch((error: unknown) => {
          read = undefined;
          throw error;
        });
        res.setHeader('Cache-Control', cache);
        res.setHeader('ETag', tag);
        if (req.fresh) {
          res.statusCode = 304;
          res.end();
        } else if (rules !== undefined) sendPage(res, text, rules);
        else sendText(res, 200, `${type}; charset=utf-8`, text);
      };
    },
  };
}

/** The tag also changes with the policy, so that a browser takes both. */
async function readAsset(
  { file, rewrite }: Asset,
  policy = '',
): Promise<{ readonly text: string; readonly tag: string }> {
  const read = await readFile(join(COMPILED, 'assets', file), 'utf8');
  const text = rewrite === undefined ? read : rewrite(read);
  return { text, tag: `"${createHash('sha256').update(policy).update(text).digest('base64url')}"` };
}
