/** Where a visitor came from, by the address of the page before. The tables are Millrace's own. */
export const REFERRER_MEDIA = ['search', 'social', 'email', 'paid', 'internal', 'unknown'] as const;
export type ReferrerMedium = (typeof REFERRER_MEDIA)[number];

/** Longer addresses are cut. */
const LONGEST = 2048;

/** Hosts, each with all hosts below it. */
const HOSTS: ReadonlyMap<string, ReferrerMedium> = new Map([
  ...of('search', [
    ...['bing.com', 'duckduckgo.com', 'search.yahoo.com', 'ecosia.org', 'qwant.com', 'startpage.com'],
    ...['search.brave.com', 'baidu.com', 'sogou.com', 'so.com', 'naver.com', 'daum.net', 'seznam.cz'],
    ...['ask.com', 'search.aol.com', 'kagi.com', 'mojeek.com', 'swisscows.com', 'metager.de', 'lycos.com'],
    'com.google.android.googlequicksearchbox',
  ]),
  ...of('social', [
    ...['facebook.com', 'fb.me', 'messenger.com', 'instagram.com', 'threads.net', 'threads.com'],
    ...['twitter.com', 'x.com', 't.co', 'linkedin.com', 'lnkd.in', 'reddit.com', 'youtube.com', 'youtu.be'],
    ...['tiktok.com', 'vk.com', 'ok.ru', 'weibo.com', 'tumblr.com', 'quora.com', 'snapchat.com', 'xing.com'],
    ...['bsky.app', 'mastodon.social', 't.me', 'telegram.org', 'whatsapp.com', 'wa.me', 'discord.com'],
    ...['pin.it', 'news.ycombinator.com', 'medium.com', 'twitch.tv', 'flickr.com', 'com.facebook.katana'],
  ]),
  ...of('email', [
    ...[
      'mail.google.com',
      'outlook.live.com',
      'outlook.office.com',
      'outlook.office365.com',
      'mail.yahoo.com',
    ],
    ...['mail.aol.com', 'mail.proton.me', 'e.mail.ru', 'navigator.gmx.net', 'deref-gmx.net', 'deref-web.de'],
    'com.google.android.gm',
  ]),
  ...of('paid', [
    ...['doubleclick.net', 'googleadservices.com', 'googlesyndication.com', 'taboola.com', 'outbrain.com'],
    ...['criteo.com', 'adsrvr.org', 'adnxs.com', 'amazon-adsystem.com', 'ads.linkedin.com', 'ads.tiktok.com'],
  ]),
]);

const MOST_PARTS = Math.max(...Array.from(HOSTS.keys(), (host) => host.split('.').length));

/** Names with a host in each country: google.de, google.co.uk. */
const EVERYWHERE: readonly (readonly [RegExp, ReferrerMedium])[] = [
  [/(?:^|\.)adservice\.google(?:\.[a-z]{2,3}){1,2}$/, 'paid'],
  [/^(?:web)?mail\d*\./, 'email'],
  [/(?:^|\.)(?:google|yandex|yahoo)(?:\.[a-z]{2,3}){1,2}$/, 'search'],
  [/(?:^|\.)pinterest(?:\.[a-z]{2,3}){1,2}$/, 'social'],
];

/** Parameters that advertisers add to addresses. */
const PAID_PARAMETERS = ['gclid', 'gbraid', 'wbraid', 'dclid', 'msclkid', 'yclid'] as const;
const PAID_MEDIUM = /^(?:cpc|ppc|cpm|cpv|paid.*|display|banner|retargeting|affiliate)$/i;

/**
 * The medium of an address. `unknown` is also the medium of a text that is no address.
 * @param own hosts of the shop; hosts below them count too
 */
export function referrerMedium(address: string, own: readonly string[]): ReferrerMedium {
  const text = address.slice(0, LONGEST);
  const whole = /^[\w-]+(\.[\w-]+)+(\/|$)/.test(text) ? `https://${text}` : text;
  if (!URL.canParse(whole)) return 'unknown';
  const url = new URL(whole);
  const host = url.hostname.toLowerCase().replace(/\.$/, '');
  if (host === '') return 'unknown';
  // A host of all candidates may be any long text: what cannot match is not read for each of them.
  if (own.some((one) => one.length <= host.length && isBelow(host, one.toLowerCase()))) return 'internal';
  if (isPaid(url.searchParams)) return 'paid';
  // A host may have hundreds of parts. The longest one that is listed has a few.
  const parts = host.split('.');
  for (let count = Math.min(MOST_PARTS, parts.length); count > 0; count--) {
    const medium = HOSTS.get(parts.slice(-count).join('.'));
    if (medium !== undefined) return medium;
  }
  return EVERYWHERE.find(([pattern]) => pattern.test(host))?.[1] ?? 'unknown';
}

function isPaid(parameters: URLSearchParams): boolean {
  if (PAID_PARAMETERS.some((name) => parameters.has(name))) return true;
  return PAID_MEDIUM.test(parameters.get('utm_medium') ?? '');
}

function isBelow(host: string, parent: string): boolean {
  return host === parent || (parent !== '' && host.endsWith(`.${parent}`));
}

function of(medium: ReferrerMedium, hosts: readonly string[]): [string, ReferrerMedium][] {
  return hosts.map((host) => [host, medium]);
}
