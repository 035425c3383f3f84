import { assetRoute } from '../asset-route.js';

/** The only image that the bundle loads from another host. Without it, redoc shows only its name. */
const FOREIGN_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';
const NO_PICTURE = 'data:,';

/** The script of the page /redoc. Browsers cache it for a day and then revalidate it. */
export const redocBundle = assetRoute({
  path: '/redoc/redoc.standalone.js',
  scope: 'any',
  folder: '/redoc/',
  file: 'redoc.standalone.js',
  type: 'text/javascript',
  cache: 'public, max-age=86400',
  rewrite: (text) => text.replaceAll(FOREIGN_LOGO, NO_PICTURE),
});
