/**
 * Headers of real browsers and crawlers, with the families that uap-core gives them (github.com/ua-parser/uap-core, regexes.yaml):
 * Metarank reads the families, and makes a platform and so on of them.
 */
export interface KnownUserAgent {
  readonly text: string;
  /** uap-core: families of the browser, the operating system and the device. */
  readonly browser: string;
  readonly os: string;
  readonly device: string;
}

const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)';
const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)';
const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const SAFARI = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';

export const USER_AGENTS: readonly KnownUserAgent[] = [
  {
    text: `${WINDOWS} ${WEBKIT} Chrome/126.0.0.0 Safari/537.36`,
    browser: 'Chrome',
    os: 'Windows',
    device: 'Other',
  },
  {
    text: `${WINDOWS} ${WEBKIT} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0`,
    browser: 'Edge',
    os: 'Windows',
    device: 'Other',
  },
  {
    text: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0',
    browser: 'Firefox',
    os: 'Windows',
    device: 'Other',
  },
  {
    text: `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/126.0.0.0 Safari/537.36`,
    browser: 'Chrome',
    os: 'Chrome OS',
    device: 'Other',
  },
  {
    text: 'Mozilla/5.0 (X11; FreeBSD amd64; rv:127.0) Gecko/20100101 Firefox/127.0',
    browser: 'Firefox',
    os: 'FreeBSD',
    device: 'Other',
  },
  { text: `${MAC} ${SAFARI} Version/17.5 Safari/605.1.15`, browser: 'Safari', os: 'Mac OS X', device: 'Mac' },
  {
    text: `${MAC} ${WEBKIT} Chrome/126.0.0.0 Safari/537.36`,
    browser: 'Chrome',
    os: 'Mac OS X',
    device: 'Mac',
  },
  {
    text: 'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0',
    browser: 'Firefox',
    os: 'Linux',
    device: 'Other',
  },
  {
    text: `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${SAFARI} Version/17.5 Mobile/15E148 Safari/604.1`,
    browser: 'Mobile Safari',
    os: 'iOS',
    device: 'iPhone',
  },
  {
    text: `Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) ${SAFARI} Version/16.6 Mobile/15E148 Safari/604.1`,
    browser: 'Mobile Safari',
    os: 'iOS',
    device: 'iPad',
  },
  {
    text: `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/126.0.0.0 Mobile Safari/537.36`,
    browser: 'Chrome Mobile',
    os: 'Android',
    device: 'K',
  },
  {
    text: `Mozilla/5.0 (Linux; Android 13; SM-X900) ${WEBKIT} Chrome/126.0.0.0 Safari/537.36`,
    browser: 'Chrome',
    os: 'Android',
    device: 'Samsung SM-X900',
  },
  {
    text: 'Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0',
    browser: 'Firefox Mobile',
    os: 'Android',
    device: 'Generic Smartphone',
  },
  {
    text: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    browser: 'Googlebot',
    os: 'Other',
    device: 'Spider',
  },
  {
    text: 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    browser: 'bingbot',
    os: 'Other',
    device: 'Spider',
  },
  {
    text: 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    browser: 'FacebookBot',
    os: 'Other',
    device: 'Spider',
  },
];

export function knownUserAgent(text: string): KnownUserAgent {
  const found = USER_AGENTS.find((one) => one.text === text);
  if (found === undefined) throw new Error(`unknown user agent ${text}`);
  return found;
}

const MOBILE = [
  'Chrome Mobile',
  'Chrome Mobile iOS',
  'Firefox Mobile',
  'Mobile Safari',
  'Opera Mobile',
  'Opera Mini',
];
const DESKTOP = ['Chrome', 'Edge', 'Firefox', 'IE', 'Opera', 'Safari'];

/** Metarank's platform. */
export function metarankPlatform({ browser, os, device }: KnownUserAgent): string | undefined {
  if (os === 'iOS') return device === 'iPad' ? 'tablet' : device === 'iPhone' ? 'mobile' : undefined;
  if (os === 'Android') return browser.includes('Mobile') ? 'mobile' : 'tablet';
  if (MOBILE.includes(browser)) return 'mobile';
  return DESKTOP.includes(browser) ? 'desktop' : undefined;
}
