/** Addresses of referrers, with the medium that Snowplow's referer-parser gives them; the shop is shop.example. */
export const REFERRERS: readonly { readonly url: string; readonly medium: string }[] = [
  { url: 'https://www.google.com/search?q=lamp', medium: 'search' },
  { url: 'https://www.google.co.uk/', medium: 'search' },
  { url: 'https://duckduckgo.com/?q=lamp', medium: 'search' },
  { url: 'https://www.bing.com/search?q=lamp', medium: 'search' },
  { url: 'https://m.facebook.com/', medium: 'social' },
  { url: 'https://t.co/abc', medium: 'social' },
  { url: 'https://www.linkedin.com/feed/', medium: 'social' },
  { url: 'https://mail.google.com/mail/u/0/', medium: 'email' },
  { url: 'https://mail.yahoo.com/', medium: 'email' },
  { url: 'https://googleads.g.doubleclick.net/pagead/ads', medium: 'paid' },
  { url: 'https://shop.example/lamps', medium: 'internal' },
  { url: 'https://www.shop.example/', medium: 'internal' },
  { url: 'https://blog.somebody.example/', medium: 'unknown' },
  { url: 'not an address', medium: 'unknown' },
];
